/** The run table in DynamoDB: single-item conditional writes, strongly consistent reads, no transactions. */
import {
  type AttributeValue,
  ConditionalCheckFailedException,
  DeleteItemCommand,
  type DynamoDBClient,
  GetItemCommand,
  PutItemCommand,
  QueryCommand,
  type QueryCommandInput,
} from '@aws-sdk/client-dynamodb';
import type { Comparison, Condition, Item, ItemKey, ItemTable, ItemValue } from './item-table.ts';

/**
 * DynamoDB's spelling of a value. Undefined members are left out, as JSON does; a bigint becomes its decimal string, so
 * that no digit is lost; a number that is not finite cannot be stored and throws.
 */
export function toAttribute(value: ItemValue | bigint): AttributeValue {
  if (value === null) return { NULL: true };
  if (typeof value === 'string') return { S: value };
  if (typeof value === 'bigint') return { S: String(value) };
  if (typeof value === 'boolean') return { BOOL: value };
  if (typeof value === 'number') {
    if (!Number.isFinite(value)) throw new TypeError(`${value} cannot be stored in DynamoDB`);
    return { N: String(value) };
  }
  if (Array.isArray(value)) return { L: value.map((element: ItemValue) => toAttribute(element)) };
  return { M: toAttributes(value as Readonly<Record<string, ItemValue>>) };
}

function toAttributes(item: Readonly<Record<string, ItemValue | undefined>>): Record<string, AttributeValue> {
  const present = Object.entries(item).filter((entry): entry is [string, ItemValue] => entry[1] !== undefined);
  return Object.fromEntries(present.map(([name, value]) => [name, toAttribute(value)]));
}

/** The inverse of {@link toAttribute} for the types that the run table uses. */
export function fromAttribute(attribute: AttributeValue): ItemValue {
  if (attribute.S !== undefined) return attribute.S;
  if (attribute.N !== undefined) return Number(attribute.N);
  if (attribute.BOOL !== undefined) return attribute.BOOL;
  if (attribute.NULL !== undefined) return null;
  if (attribute.L !== undefined) return attribute.L.map(fromAttribute);
  if (attribute.M !== undefined) return fromAttributes(attribute.M);
  throw new TypeError(`The run table holds a value of an unknown type: ${Object.keys(attribute).join(', ')}`);
}

function fromAttributes(attributes: Readonly<Record<string, AttributeValue>>): Record<string, ItemValue> {
  return Object.fromEntries(Object.entries(attributes).map(([name, value]) => [name, fromAttribute(value)]));
}

interface Expression {
  readonly ConditionExpression?: string;
  readonly ExpressionAttributeNames?: Record<string, string>;
  readonly ExpressionAttributeValues?: Record<string, AttributeValue>;
}

/** Attribute names always go by placeholder, since half of the useful words are reserved. */
function conditionExpression(condition: Condition | undefined): Expression {
  if (condition === undefined) return {};
  const names: Record<string, string> = {};
  const values: Record<string, AttributeValue> = {};
  const compare = (comparison: Comparison, id: string): string => {
    if ('absent' in comparison) {
      names['#pk'] = 'pk';
      return 'attribute_not_exists(#pk)';
    }
    names[`#${id}`] = comparison.attribute;
    values[`:${id}`] = toAttribute('equals' in comparison ? comparison.equals : comparison.lessThan);
    return 'equals' in comparison ? `#${id} = :${id}` : `#${id} < :${id}`;
  };
  const alternatives = condition.map((all, i) => `(${all.map((one, j) => compare(one, `c${i}_${j}`)).join(' AND ')})`);
  return {
    ConditionExpression: alternatives.join(' OR '),
    ExpressionAttributeNames: names,
    ...(Object.keys(values).length > 0 ? { ExpressionAttributeValues: values } : {}),
  };
}

async function unlessConditionFails(write: Promise<unknown>): Promise<boolean> {
  try {
    await write;
    return true;
  } catch (error) {
    if (error instanceof ConditionalCheckFailedException) return false;
    throw error;
  }
}

export class DynamoItemTable implements ItemTable {
  readonly #client: DynamoDBClient;
  readonly #table: string;
  readonly #statusIndex: string;

  constructor(client: DynamoDBClient, table: string, statusIndex: string) {
    this.#client = client;
    this.#table = table;
    this.#statusIndex = statusIndex;
  }

  async get(key: ItemKey): Promise<Item | undefined> {
    const command = new GetItemCommand({
      TableName: this.#table,
      Key: toAttributes({ pk: key.pk, sk: key.sk }),
      ConsistentRead: true,
    });
    const { Item: found } = await this.#client.send(command);
    return found === undefined ? undefined : (fromAttributes(found) as Item);
  }

  put(item: Item, condition?: Condition): Promise<boolean> {
    const command = new PutItemCommand({
      TableName: this.#table,
      Item: toAttributes(item),
      ...conditionExpression(condition),
    });
    return unlessConditionFails(this.#client.send(command));
  }

  delete(key: ItemKey, condition?: Condition): Promise<boolean> {
    const command = new DeleteItemCommand({
      TableName: this.#table,
      Key: toAttributes({ pk: key.pk, sk: key.sk }),
      ...conditionExpression(condition),
    });
    return unlessConditionFails(this.#client.send(command));
  }

  query(request: { pk: string; skPrefix?: string; limit?: number; descending?: boolean }): Promise<readonly Item[]> {
    const bySk = request.skPrefix !== undefined && request.skPrefix !== '';
    return this.#collect(
      {
        KeyConditionExpression: bySk ? '#pk = :pk AND begins_with(#sk, :sk)' : '#pk = :pk',
        ExpressionAttributeNames: { '#pk': 'pk', ...(bySk ? { '#sk': 'sk' } : {}) },
        ExpressionAttributeValues: toAttributes({ ':pk': request.pk, ...(bySk ? { ':sk': request.skPrefix } : {}) }),
        ConsistentRead: true,
        ScanIndexForward: request.descending !== true,
      },
      request.limit,
    );
  }

  queryByStatus(request: { statusPk: string; limit?: number }): Promise<readonly Item[]> {
    return this.#collect(
      {
        IndexName: this.#statusIndex,
        KeyConditionExpression: '#pk = :pk',
        ExpressionAttributeNames: { '#pk': 'status_pk' },
        ExpressionAttributeValues: toAttributes({ ':pk': request.statusPk }),
        ScanIndexForward: false,
      },
      request.limit,
    );
  }

  async #collect(query: Omit<QueryCommandInput, 'TableName'>, limit = Number.POSITIVE_INFINITY): Promise<Item[]> {
    const items: Item[] = [];
    let start: Record<string, AttributeValue> | undefined;
    do {
      const left = limit - items.length;
      const page = await this.#client.send(
        new QueryCommand({
          ...query,
          TableName: this.#table,
          ...(Number.isFinite(left) ? { Limit: left } : {}),
          ...(start === undefined ? {} : { ExclusiveStartKey: start }),
        }),
      );
      items.push(...(page.Items ?? []).map((item) => fromAttributes(item) as Item));
      start = page.LastEvaluatedKey;
    } while (start !== undefined && items.length < limit);
    return items;
  }
}
