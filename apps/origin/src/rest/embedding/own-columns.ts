import type { OrderItem, Resource, SelectItem } from '@terrane/database/rest-query'
import { embedded, type ReadContext, type Source } from './sources.ts'

/** Whether an item of `select` stands for all columns. */
export function isStar({ field, aggregate }: SelectItem): boolean {
  return field.column === '*' && field.path.length === 0 && aggregate === null
}

/** Names of columns; `isAll` where every column is needed beside them. */
export interface OwnColumns {
  readonly names: readonly string[]
  readonly isAll: boolean
}

/** The own columns that the answer needs: shown, of the order and of relationships; all if a function takes the row. */
export function ownColumnsOf(
  resource: Pick<Resource, 'select' | 'embeds' | 'order'>,
  source: Source,
  context: ReadContext,
  ordered: readonly OrderItem[] = [],
): OwnColumns {
  const relationships = resource.embeds.map((embed) => embedded(embed, source, context).relationship)
  const fields = [...(resource.select ?? []), ...resource.order.filter((item) => item.relation === null), ...ordered]
  const names = [
    ...fields.map((item) => item.field.column).filter((name) => name !== '*'),
    ...relationships.flatMap(({ junction, pairs }) => (junction?.own ?? pairs).map(([own]) => own)),
  ]
  const isAll = (resource.select ?? [null]).some((item) => item === null || isStar(item))
  return { names: [...new Set(names)], isAll: isAll || relationships.some((r) => r.cardinality === 'computed') }
}
