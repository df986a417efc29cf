import type { Queryable } from '@terrane/database'
import { argumentsOf, callSql, type Argument } from '../rest/functions.ts'

/**
 * A function that returns a vector tile as bytes, with the conventions of Martin and pg_tileserv. Its first arguments
 * are integers named `z` (or `zoom`), `x` and `y`. One further argument of type json or jsonb gets all parameters of
 * the query; other arguments get the parameter of their name.
 */
export interface TileFunction {
  readonly schema: string
  readonly name: string
  readonly args: readonly Argument[]
  readonly takesObject: boolean
  readonly comment: string | null
}

interface Found {
  readonly names: string[] | null
  readonly modes: string[] | null
  readonly types: string[]
  readonly defaults: number
  readonly comment: string | null
}

const WHOLE: ReadonlySet<string> = new Set(['smallint', 'integer', 'bigint'])
const PLACES = [['z', 'zoom'], ['x'], ['y']] as const

/** Functions of extensions count as absent, because they are libraries for SQL. */
const FUNCTIONS = `
  select p.proargnames as names, p.proargmodes::text[] as modes, p.pronargdefaults as defaults,
    array(select format_type(a.oid, null) from unnest(p.proargtypes) with ordinality a(oid, i) order by a.i) as types,
    obj_description(p.oid, 'pg_proc') as comment
  from pg_proc p join pg_namespace n on n.oid = p.pronamespace
  where n.nspname = $1 and p.proname = $2 and p.prokind = 'f' and p.prorettype = 'bytea'::regtype and not p.proretset
    and has_schema_privilege(n.oid, 'usage') and has_function_privilege(p.oid, 'execute')
    and not exists (select from pg_depend d where d.classid = 'pg_proc'::regclass and d.objid = p.oid and d.deptype = 'e')
  order by p.oid`

/** Finds a tile function with the rights of the caller; null without one that the caller may call. */
export async function findTileFunction(session: Queryable, schema: string, name: string): Promise<TileFunction | null> {
  const { rows } = await session.query<Found>(FUNCTIONS, [schema, name])
  for (const row of rows) {
    const args = argumentsOf(row)
    const isPlaced = PLACES.every((names, i) => {
      const { name: given = '', type = '' } = args[i] ?? {}
      return (names as readonly string[]).includes(given) && WHOLE.has(type)
    })
    const takesObject = args.length === 4 && /^jsonb?$/.test(args[3]?.type ?? '')
    if (isPlaced) return { schema, name, args, takesObject, comment: row.comment }
  }
  return null
}

/** A statement that gives the tile of a function as `tile`, and the JSON of its arguments, which is its one parameter. */
export function functionSql(
  { args, takesObject, ...named }: TileFunction,
  { z, x, y }: { readonly z: number; readonly x: number; readonly y: number },
  parameters: URLSearchParams,
): { readonly text: string; readonly json: string } {
  const [zoom, column, row, ...others] = args as [Argument, Argument, Argument, ...Argument[]]
  const members = [zoom, column, row].map(({ name }, i) => [name, String([z, x, y][i])] as const)
  const given = takesObject
    ? [[others[0]!.name, objectOf(parameters)] as const]
    : others.flatMap(({ name }) => {
        const value = parameters.get(name)
        return value === null ? [] : [[name, JSON.stringify(value)] as const]
      })
  const all = [...members, ...given]
  const names = all.map(([name]) => name)
  const text = `select result as tile from ${callSql({ ...named, args }, names, () => '$1')} as result`
  return { text, json: `{${all.map(([name, value]) => `${JSON.stringify(name)}:${value}`).join(',')}}` }
}

/** Parameters that are valid JSON are passed as JSON, as in Martin; others are texts. */
function objectOf(parameters: URLSearchParams): string {
  return `{${[...parameters].map(([name, value]) => `${JSON.stringify(name)}:${isJson(value) ? value : JSON.stringify(value)}`).join(',')}}`
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}
