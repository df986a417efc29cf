export { Parameters, literals, orderClause, selectList, whereClause } from './build-sql.ts'
export { badQuery } from './errors.ts'
export { isArgument, parseQuery } from './parse-query.ts'
export type { Condition, RestQuery } from './parse-query.ts'
