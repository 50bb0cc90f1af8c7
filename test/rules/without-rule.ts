/**
 * Preloaded (`node --import`) by the proof that each safety rule earns its place: takes one rule out of the product's source
 * while it is loaded, so that the suite that pins the rule can be shown to fail. `WITHOUT_RULE` names an entry of `rules.ts`.
 */
import { registerHooks } from 'node:module';
import { relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { rules } from './rules.ts';

const top = resolve(import.meta.dirname, '../..');
const name = process.env['WITHOUT_RULE'];
const rule = rules.find((candidate) => candidate.name === name);
if (rule === undefined) throw new Error(`WITHOUT_RULE=${name} names no rule of test/rules/rules.ts.`);

registerHooks({
  load(url, context, nextLoad) {
    const loaded = nextLoad(url, context);
    if (!url.startsWith('file:') || relative(top, fileURLToPath(url)) !== rule.file) return loaded;
    const source = String(loaded.source);
    if (source.split(rule.line).length !== 2) {
      // Seen by the proof as a failure of the harness, never as a rule that was caught.
      process.stderr.write(`HARNESS: ${rule.file} does not contain the line of rule ${rule.name} exactly once\n`);
      process.exit(99);
    }
    process.stderr.write(`WITHOUT: ${rule.name}\n`);
    return { ...loaded, source: source.replace(rule.line, () => rule.without) };
  },
});
