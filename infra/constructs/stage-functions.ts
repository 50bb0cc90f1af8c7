import type { RemovalPolicy } from 'aws-cdk-lib';
import type { ITable } from 'aws-cdk-lib/aws-dynamodb';
import type { ISecurityGroup, IVpc, SubnetSelection } from 'aws-cdk-lib/aws-ec2';
import { PolicyStatement, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import type { IKey } from 'aws-cdk-lib/aws-kms';
import {
  Architecture,
  Code,
  type ILayerVersion,
  Function as LambdaFunction,
  Runtime,
  Tracing,
} from 'aws-cdk-lib/aws-lambda';
import { LogGroup, type RetentionDays } from 'aws-cdk-lib/aws-logs';
import type { IBucket } from 'aws-cdk-lib/aws-s3';
import { Construct } from 'constructs';
import { FUNCTION_NAMES, type FunctionEnvInput, type FunctionName } from '#shared/runtime/env.ts';
import { FUNCTION_SETTINGS } from './function-settings.ts';
import { STATUS_INDEX } from './names.ts';

/** What all functions have in common. */
export interface StageFunctionsProps {
  /** Folder of each function's bundle. */
  readonly bundles: Readonly<Record<FunctionName, string>>;
  readonly workBucket: IBucket;
  readonly runTable: ITable;
  /** Value of DEPLOYMENT, and the layer that holds the file it names. */
  readonly deployment: string;
  readonly deploymentLayer?: ILayerVersion;
  readonly environments: {
    readonly [Name in FunctionName]?: Omit<FunctionEnvInput<Name>, keyof FunctionEnvInput<'scan'>>;
  };
  /** Bus that plan and record put the events of runs on. */
  readonly eventBusArn: string;
  readonly serviceName: string;
  readonly logRetention: RetentionDays;
  readonly removalPolicy: RemovalPolicy;
  /** For logs and environments. */
  readonly encryptionKey?: IKey;
  /** Every key that work bucket, run table, logs or environments are encrypted with. */
  readonly keys: readonly IKey[];
  readonly vpc?: IVpc;
  readonly vpcSubnets?: SubnetSelection;
  readonly securityGroups?: ISecurityGroup[];
}

/** X-Ray's and the network interfaces' actions know no resources. */
const TRACING = ['xray:PutTraceSegments', 'xray:PutTelemetryRecords'];
const NETWORK_INTERFACES = [
  'ec2:CreateNetworkInterface',
  'ec2:DescribeNetworkInterfaces',
  'ec2:DescribeSubnets',
  'ec2:DeleteNetworkInterface',
  'ec2:AssignPrivateIpAddresses',
  'ec2:UnassignPrivateIpAddresses',
];

/** Functions that look for earlier runs of a table; the others read and write items whose keys they know. */
const READ_HISTORY: readonly FunctionName[] = ['record', 'watch'];

function artefactStatements(workBucket: IBucket): PolicyStatement[] {
  return [
    new PolicyStatement({
      sid: 'RunArtefacts',
      actions: ['s3:GetObject', 's3:PutObject'],
      resources: [workBucket.arnForObjects('runs/*')],
    }),
    new PolicyStatement({
      sid: 'ListRunArtefacts',
      actions: ['s3:ListBucket'],
      resources: [workBucket.bucketArn],
      // Without a right to list that asks for no prefix, S3 answers 403 where a receipt is not there yet.
      conditions: { StringLikeIfExists: { 's3:prefix': 'runs/*' } },
    }),
  ];
}

/** One function per stage, each with a role and a log group of its own. */
export class StageFunctions extends Construct {
  readonly functions: Readonly<Record<FunctionName, LambdaFunction>>;
  readonly roles: Readonly<Record<FunctionName, Role>>;
  readonly #props: StageFunctionsProps;

  constructor(scope: Construct, id: string, props: StageFunctionsProps) {
    super(scope, id);
    this.#props = props;
    const roles = {} as Record<FunctionName, Role>;
    const functions = {} as Record<FunctionName, LambdaFunction>;
    for (const name of FUNCTION_NAMES) {
      const stage = new Construct(this, name[0]?.toUpperCase() + name.slice(1));
      roles[name] = this.#role(stage, name);
      functions[name] = this.#function(stage, name, roles[name]);
    }
    this.roles = roles;
    this.functions = functions;
  }

  #role(stage: Construct, name: FunctionName): Role {
    const role = new Role(stage, 'Role', {
      assumedBy: new ServicePrincipal('lambda.amazonaws.com'),
      description: `Rights of the icesweep function ${name}.`,
    });
    const { workBucket, runTable, vpc } = this.#props;
    if (name !== 'watch') for (const statement of artefactStatements(workBucket)) role.addToPolicy(statement);
    role.addToPolicy(
      new PolicyStatement({
        sid: 'RunTable',
        actions: ['dynamodb:GetItem', 'dynamodb:PutItem', ...(READ_HISTORY.includes(name) ? ['dynamodb:Query'] : [])],
        resources: [runTable.tableArn],
      }),
    );
    role.addToPolicy(new PolicyStatement({ sid: 'Tracing', actions: TRACING, resources: ['*'] }));
    if (name === 'plan' || name === 'record') {
      role.addToPolicy(
        new PolicyStatement({ sid: 'RunEvents', actions: ['events:PutEvents'], resources: [this.#props.eventBusArn] }),
      );
    }
    if (vpc !== undefined) {
      role.addToPolicy(new PolicyStatement({ sid: 'Network', actions: NETWORK_INTERFACES, resources: ['*'] }));
    }
    for (const key of this.#props.keys) key.grantEncryptDecrypt(role);
    return role;
  }

  #function(stage: Construct, name: FunctionName, role: Role): LambdaFunction {
    const props = this.#props;
    const settings = FUNCTION_SETTINGS[name];
    const logGroup = new LogGroup(stage, 'Logs', {
      retention: props.logRetention,
      removalPolicy: props.removalPolicy,
      ...(props.encryptionKey === undefined ? {} : { encryptionKey: props.encryptionKey }),
    });
    logGroup.grantWrite(role);
    return new LambdaFunction(stage, 'Function', {
      runtime: Runtime.NODEJS_24_X,
      architecture: Architecture.ARM_64,
      handler: 'index.handler',
      code: Code.fromAsset(props.bundles[name]),
      description: settings.description,
      memorySize: settings.memoryMegabytes,
      timeout: settings.timeout,
      tracing: Tracing.ACTIVE,
      environment: this.#environment(name),
      role: role.withoutPolicyUpdates(),
      logGroup,
      ...(props.deploymentLayer === undefined ? {} : { layers: [props.deploymentLayer] }),
      ...(props.encryptionKey === undefined ? {} : { environmentEncryption: props.encryptionKey }),
      ...(props.vpc === undefined ? {} : { vpc: props.vpc }),
      ...(props.vpcSubnets === undefined ? {} : { vpcSubnets: props.vpcSubnets }),
      ...(props.securityGroups === undefined ? {} : { securityGroups: props.securityGroups }),
    });
  }

  /** The contract of `shared/runtime/env.ts`, and what Powertools reads for itself. */
  #environment(name: FunctionName): Record<string, string> {
    const own: FunctionEnvInput<'plan'> = {
      WORK_BUCKET: this.#props.workBucket.bucketName,
      RUN_TABLE: this.#props.runTable.tableName,
      RUN_STATUS_INDEX: STATUS_INDEX,
      DEPLOYMENT: this.#props.deployment,
    };
    return Object.fromEntries(
      Object.entries({
        ...own,
        ...this.#props.environments[name],
        POWERTOOLS_SERVICE_NAME: this.#props.serviceName,
        POWERTOOLS_LOG_LEVEL: 'INFO',
      }).filter((entry): entry is [string, string] => entry[1] !== undefined),
    );
  }
}
