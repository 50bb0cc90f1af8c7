/** The run table in one process. Hooks let a test fail, delay or repeat any call, before or after it took effect. */
import type { Comparison, Condition, Item, ItemKey, ItemTable } from '#shared/run/item-table.ts';

export type ItemCall = 'get' | 'put' | 'delete' | 'query' | 'queryByStatus';

/** Throws to make the call fail; after means that the write took effect and only its answer is lost. */
export interface ItemTableHooks {
  before?(call: ItemCall, key: ItemKey | undefined): void | Promise<void>;
  after?(call: ItemCall, key: ItemKey | undefined): void | Promise<void>;
}

function holds(comparison: Comparison, stored: Item | undefined): boolean {
  if ('absent' in comparison) return stored === undefined;
  const value = stored?.[comparison.attribute];
  if (value === undefined) return false;
  if ('equals' in comparison) return JSON.stringify(value) === JSON.stringify(comparison.equals);
  return typeof value === 'number' && value < comparison.lessThan;
}

function met(condition: Condition | undefined, stored: Item | undefined): boolean {
  return condition === undefined || condition.some((all) => all.every((comparison) => holds(comparison, stored)));
}

const byBytes = (a: string, b: string): number => Buffer.compare(Buffer.from(a), Buffer.from(b));

export class MemoryItemTable implements ItemTable {
  readonly items = new Map<string, Item>();
  hooks: ItemTableHooks;

  constructor(hooks: ItemTableHooks = {}) {
    this.hooks = hooks;
  }

  async #call<T>(call: ItemCall, key: ItemKey | undefined, effect: () => T): Promise<T> {
    await this.hooks.before?.(call, key);
    const result = effect();
    await this.hooks.after?.(call, key);
    return result;
  }

  #name(key: ItemKey): string {
    return JSON.stringify([key.pk, key.sk]);
  }

  get(key: ItemKey): Promise<Item | undefined> {
    return this.#call('get', key, () => structuredClone(this.items.get(this.#name(key))));
  }

  put(item: Item, condition?: Condition): Promise<boolean> {
    return this.#call('put', { pk: item.pk, sk: item.sk }, () => {
      if (!met(condition, this.items.get(this.#name(item)))) return false;
      this.items.set(this.#name(item), structuredClone(item));
      return true;
    });
  }

  delete(key: ItemKey, condition?: Condition): Promise<boolean> {
    return this.#call('delete', key, () => {
      if (!met(condition, this.items.get(this.#name(key)))) return false;
      this.items.delete(this.#name(key));
      return true;
    });
  }

  query(request: Parameters<ItemTable['query']>[0]): Promise<readonly Item[]> {
    return this.#call('query', undefined, () => {
      const found = [...this.items.values()]
        .filter((item) => item.pk === request.pk && item.sk.startsWith(request.skPrefix ?? ''))
        .sort((a, b) => byBytes(a.sk, b.sk));
      if (request.descending === true) found.reverse();
      return structuredClone(found.slice(0, request.limit));
    });
  }

  queryByStatus(request: Parameters<ItemTable['queryByStatus']>[0]): Promise<readonly Item[]> {
    return this.#call('queryByStatus', undefined, () => {
      const found = [...this.items.values()]
        .filter((item) => item['status_pk'] === request.statusPk)
        .sort((a, b) => byBytes(String(b['status_sk']), String(a['status_sk'])));
      return structuredClone(found.slice(0, request.limit));
    });
  }
}
