export {
  Parameters,
  conditionList,
  literals,
  orderClause,
  selectExpression,
  whereClause,
  withAggregate,
} from './build-sql.ts'
export { badQuery } from './errors.ts'
export { isArgument, parseQuery } from './parse-query.ts'
export type { Condition, Embed, OrderItem, Resource, RestQuery, SelectItem } from './query.ts'
