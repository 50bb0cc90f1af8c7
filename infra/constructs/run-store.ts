import { Duration, RemovalPolicy } from 'aws-cdk-lib';
import {
  AttributeType,
  BillingMode,
  type ITable,
  ProjectionType,
  Table,
  TableEncryption,
} from 'aws-cdk-lib/aws-dynamodb';
import type { IKey } from 'aws-cdk-lib/aws-kms';
import { BlockPublicAccess, Bucket, BucketEncryption, type IBucket, ObjectOwnership } from 'aws-cdk-lib/aws-s3';
import { Construct } from 'constructs';
import { STATUS_INDEX } from './names.ts';

export interface RunStoreProps {
  readonly workBucket?: IBucket;
  readonly runTable?: ITable;
  readonly encryptionKey?: IKey;
  readonly accessLogsBucket?: IBucket;
  readonly artefactRetention: Duration;
  readonly removalPolicy?: RemovalPolicy;
}

/** Where runs leave what they did: artefacts in the work bucket, records in the run table. */
export class RunStore extends Construct {
  readonly workBucket: IBucket;
  readonly runTable: ITable;
  /** Every key that whoever reads or writes a run needs; a bucket or table that was brought along may have its own. */
  readonly keys: readonly IKey[];

  constructor(scope: Construct, id: string, props: RunStoreProps) {
    super(scope, id);
    this.workBucket = props.workBucket ?? this.#createBucket(props);
    this.runTable = props.runTable ?? this.#createTable(props);
    const keys = [props.encryptionKey, this.workBucket.encryptionKey, this.runTable.encryptionKey];
    this.keys = [...new Set(keys.filter((key) => key !== undefined))];
  }

  #createBucket(props: RunStoreProps): Bucket {
    const removalPolicy = props.removalPolicy ?? RemovalPolicy.DESTROY;
    return new Bucket(this, 'WorkBucket', {
      encryption: props.encryptionKey === undefined ? BucketEncryption.S3_MANAGED : BucketEncryption.KMS,
      ...(props.encryptionKey === undefined ? {} : { encryptionKey: props.encryptionKey, bucketKeyEnabled: true }),
      ...(props.accessLogsBucket === undefined ? {} : { serverAccessLogsBucket: props.accessLogsBucket }),
      blockPublicAccess: BlockPublicAccess.BLOCK_ALL,
      objectOwnership: ObjectOwnership.BUCKET_OWNER_ENFORCED,
      enforceSSL: true,
      removalPolicy,
      lifecycleRules: [
        { id: 'ExpireRunArtefacts', prefix: 'runs/', expiration: props.artefactRetention },
        { id: 'AbortUploads', abortIncompleteMultipartUploadAfter: Duration.days(1) },
      ],
    });
  }

  /** A table of the older kind: one with replicas cannot have a key of yours where the region is not known at synthesis. */
  #createTable(props: RunStoreProps): Table {
    const table = new Table(this, 'RunTable', {
      partitionKey: { name: 'pk', type: AttributeType.STRING },
      sortKey: { name: 'sk', type: AttributeType.STRING },
      billingMode: BillingMode.PAY_PER_REQUEST,
      ...(props.encryptionKey === undefined
        ? { encryption: TableEncryption.AWS_MANAGED }
        : { encryption: TableEncryption.CUSTOMER_MANAGED, encryptionKey: props.encryptionKey }),
      pointInTimeRecoverySpecification: { pointInTimeRecoveryEnabled: true },
      removalPolicy: props.removalPolicy ?? RemovalPolicy.RETAIN,
    });
    table.addGlobalSecondaryIndex({
      indexName: STATUS_INDEX,
      partitionKey: { name: 'status_pk', type: AttributeType.STRING },
      sortKey: { name: 'status_sk', type: AttributeType.STRING },
      projectionType: ProjectionType.ALL,
    });
    return table;
  }
}
