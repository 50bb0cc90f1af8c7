/** The port to the run table (DynamoDB in production): single-item conditional writes only, no transactions (DESIGN section 9). */

export type ItemValue = string | number | boolean | null | readonly ItemValue[] | { readonly [key: string]: ItemValue };

export interface ItemKey {
  readonly pk: string;
  readonly sk: string;
}

export type Item = ItemKey & { readonly [attribute: string]: ItemValue };

/** One comparison on the stored item. A condition list is met when any of its alternatives is met in full. */
export type Comparison =
  | { readonly absent: true }
  | { readonly attribute: string; readonly equals: ItemValue }
  | { readonly attribute: string; readonly lessThan: number };

/** Any of the alternatives, each a conjunction. */
export type Condition = readonly (readonly Comparison[])[];

export interface ItemTable {
  /** Strongly consistent. */
  get(key: ItemKey): Promise<Item | undefined>;
  /** Replaces the whole item. False when the condition was not met; nothing was written then. */
  put(item: Item, condition?: Condition): Promise<boolean>;
  delete(key: ItemKey, condition?: Condition): Promise<boolean>;
  /** Items of one partition by sort key, newest first when `descending`. */
  query(request: {
    readonly pk: string;
    readonly skPrefix?: string;
    readonly limit?: number;
    readonly descending?: boolean;
  }): Promise<readonly Item[]>;
  /** The sparse index of recent runs: partition `status_pk`, sort `status_sk`, newest first. */
  queryByStatus(request: { readonly statusPk: string; readonly limit?: number }): Promise<readonly Item[]>;
}
