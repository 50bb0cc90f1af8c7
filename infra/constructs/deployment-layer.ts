import { createHash } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type FileAssetLocation, FileAssetPackaging, Lazy, Stack, Stage } from 'aws-cdk-lib';
import { CfnLayerVersion, type ILayerVersion, LayerVersion } from 'aws-cdk-lib/aws-lambda';
import { Construct } from 'constructs';

const FILE = 'deployment.json';

/**
 * The deployment's settings as a file in a layer: with 600 tables they fit no environment variable, and a layer needs no
 * right to read. The file is written when the template is resolved, so that tables may be added until then.
 */
export class DeploymentLayer extends Construct {
  readonly layer: ILayerVersion;
  /** Value of DEPLOYMENT. */
  readonly reference = `file:/opt/${FILE}`;
  readonly #settings: () => object;
  #asset: FileAssetLocation | undefined;

  constructor(scope: Construct, id: string, settings: () => object) {
    super(scope, id);
    this.#settings = settings;
    const layer = new CfnLayerVersion(this, 'Layer', {
      description: 'Settings of the icesweep deployment.',
      compatibleRuntimes: ['nodejs24.x'],
      content: {
        s3Bucket: Lazy.string({ produce: () => this.#publish().bucketName }),
        s3Key: Lazy.string({ produce: () => this.#publish().objectKey }),
      },
    });
    this.layer = LayerVersion.fromLayerVersionArn(this, 'Reference', layer.ref);
  }

  #publish(): FileAssetLocation {
    if (this.#asset !== undefined) return this.#asset;
    const text = JSON.stringify(this.#settings());
    const sourceHash = createHash('sha256').update(text).digest('hex');
    const folder = `deployment.${sourceHash.slice(0, 24)}`;
    const outdir = Stage.of(this)?.assetOutdir ?? '.';
    mkdirSync(join(outdir, folder), { recursive: true });
    writeFileSync(join(outdir, folder, FILE), text);
    this.#asset = Stack.of(this).synthesizer.addFileAsset({
      fileName: folder,
      packaging: FileAssetPackaging.ZIP_DIRECTORY,
      sourceHash,
      displayName: 'icesweep deployment settings',
    });
    return this.#asset;
  }
}
