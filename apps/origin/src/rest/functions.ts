import { quoteIdentifier, type Queryable } from '@terrane/database'
import { RestError } from './errors.ts'

export interface Argument {
  readonly name: string
  /** SQL text of the type. */
  readonly type: string
  readonly optional: boolean
  /** True for the list of further values of a variadic function. */
  readonly isVariadic: boolean
}

/** Arguments of a call. */
export interface Given {
  readonly names: readonly string[]
  /** True when the body is JSON, which a function with a single unnamed json argument gets as a whole. */
  readonly isBody: boolean
}

/** A function that clients may call. */
export interface CallableFunction {
  readonly schema: string
  readonly name: string
  readonly args: readonly Argument[]
  readonly returnsSet: boolean
  /** True when it returns a row type or a table instead of a single value. */
  readonly returnsRow: boolean
  readonly returnsVoid: boolean
  /** True for rows whose columns the call decides, `returns record`. */
  readonly returnsRecord: boolean
  /** The table or view whose rows it returns; null for other rows. */
  readonly table: string | null
  /** Whether the role may execute it. */
  readonly isPermitted: boolean
  /** True when it changes nothing, so GET may call it. */
  readonly readOnly: boolean
}

/** Types of a single unnamed argument; a function with other unnamed arguments cannot be called by names. */
const WHOLE: ReadonlySet<string> = new Set(['bytea', 'json', 'jsonb', 'text', 'xml'])

/**
 * Finds the one overload whose parameters are the given names: every required one among them and no others, as PostgREST
 * resolves it; else the one that takes the whole body.
 *
 * @throws PGRST202 when there is none, PGRST203 when there are several
 */
export async function resolveFunction(
  session: Queryable,
  schema: string,
  name: string,
  given: Given,
  extensionFunctions: readonly string[],
): Promise<CallableFunction> {
  const { names, isBody } = given
  const isNamed = extensionFunctions.includes(name)
  const all = await readFunctions(session, schema, name, isNamed)
  const functions = all.filter(isCallable)
  const byNames = functions.filter(
    (f) =>
      names.every((n) => f.args.some((a) => a.name === n)) && f.args.every((a) => a.optional || names.includes(a.name)),
  )
  const found = byNames.length > 0 || !isBody ? byNames : functions.filter(takesBody)
  const permitted = found.filter((f) => f.isPermitted)
  // A function that the role may not execute is chosen only when there is no other; the database then refuses it.
  const fitting = permitted.length > 0 ? permitted : found.slice(0, 1)
  const shown = `${schema}.${name}`
  if (fitting.length > 1) {
    const byLength = fitting.toSorted((a, b) => a.args.length - b.args.length || (signature(a) < signature(b) ? -1 : 1))
    const candidates = byLength.map(signature)
    throw new RestError(
      300,
      'PGRST203',
      `Could not choose the best candidate function between: ${candidates.join(', ')}`,
      {
        hint: 'Try renaming the parameters or the function itself in the database so function overloading can be resolved',
      },
    )
  }
  if (!fitting[0]) {
    const suggestion = [...functions, ...(isNamed ? all : [])].find((f) => f.isPermitted)
    const list = names.toSorted().join(', ')
    const sought = names.length === 0 ? ' without parameters' : ` with parameter${names.length > 1 ? 's' : ''} ${list}`
    const whole = isBody ? ' or with a single unnamed json/jsonb parameter' : ''
    throw new RestError(
      404,
      'PGRST202',
      `Could not find the function ${shown}${names.length > 0 ? `(${list})` : ' without parameters'} in the schema cache`,
      {
        details: `Searched for the function ${shown}${sought}${whole}, but no matches were found in the schema cache.`,
        hint: suggestion ? `Perhaps you meant to call the function ${signature(suggestion)}` : null,
      },
    )
  }
  return fitting[0]
}

function isCallable({ args }: CallableFunction): boolean {
  const unnamed = args.filter((arg) => arg.name === '')
  return unnamed.length === 0 || (args.length === 1 && WHOLE.has(args[0]?.type ?? ''))
}

/** Whether a JSON body is the function's only argument. */
function takesBody({ args }: CallableFunction): boolean {
  return args.length === 1 && args[0]?.name === '' && /^jsonb?$/.test(args[0].type)
}

/** `from` item that calls the function with the arguments of a JSON object; `add` gives the placeholder that stands for it. */
export function callSql(
  fn: Pick<CallableFunction, 'schema' | 'name' | 'args'> & Partial<Pick<CallableFunction, 'returnsRecord'>>,
  given: readonly string[],
  add: () => string,
): string {
  const used = fn.args.filter((arg) => given.includes(arg.name))
  const target = `${quoteIdentifier(fn.schema)}.${quoteIdentifier(fn.name)}`
  const [only] = fn.args
  if (only?.name === '' && (given.includes('') || !only.optional)) return `${target}(${add()}::${only.type})`
  if (used.length === 0) return fn.returnsRecord === true ? `(select ${target}() as result)` : `${target}()`
  const record = used.map((arg) => `${quoteIdentifier(arg.name)} ${isGeometry(arg) ? 'json' : arg.type}`).join(', ')
  const values = used
    .map((arg) => `${arg.isVariadic ? 'variadic ' : ''}${quoteIdentifier(arg.name)} => ${valueSql(arg)}`)
    .join(', ')
  const from = `json_to_record(${add()}::json) as args(${record})`
  // The columns of a record are known only where it is a value.
  if (fn.returnsRecord === true) return `(select ${target}(${values}) as result from ${from})`
  return `${from}, lateral ${target}(${values})`
}

function isGeometry({ type }: Argument): boolean {
  return /^(?:\w+\.)?(?:geometry|geography)$/.test(type)
}

/** Names of the arguments of a function that are geometries. */
export function geometriesOf({ args }: Pick<CallableFunction, 'args'>): string[] {
  return args.filter(isGeometry).map(({ name }) => name)
}

/** A geometry may also be sent as a GeoJSON Feature. */
function valueSql(arg: Argument): string {
  const value = `args.${quoteIdentifier(arg.name)}`
  if (!isGeometry(arg)) return value
  return `(case when json_typeof(${value}) <> 'object' then ${value} #>> '{}'
    when ${value} ->> 'type' = 'Feature' then ${value} ->> 'geometry' else ${value}::text end)::${arg.type}`
}

function signature(fn: CallableFunction): string {
  return `${fn.schema}.${fn.name}(${fn.args.map((arg) => `${arg.name} => ${arg.type}`).join(', ')})`
}

/** Functions by name. Functions of extensions are hidden unless the setting names them. */
async function readFunctions(
  session: Queryable,
  schema: string,
  name: string,
  ofExtensions: boolean,
): Promise<CallableFunction[]> {
  const { rows } = await session.query<{
    names: string[] | null
    modes: string[] | null
    types: string[]
    defaults: number
    returns_set: boolean
    returns_row: boolean
    returns_void: boolean
    returns_record: boolean
    table_name: string | null
    read_only: boolean
    permitted: boolean
  }>(
    `select p.proargnames as names, p.proargmodes::text[] as modes,
       array(select format_type(t.oid, -1) from unnest(p.proargtypes) with ordinality a(oid, i) join pg_type t on t.oid = a.oid order by a.i) as types,
       p.pronargdefaults as defaults, p.proretset as returns_set,
       (rt.typtype = 'c' or p.proargmodes && array['o', 'b', 't']::"char"[]) is true as returns_row,
       p.prorettype = 'void'::regtype as returns_void,
       p.prorettype = 'record'::regtype and (p.proargmodes && array['o', 'b', 't']::"char"[]) is not true as returns_record,
       (select c.relname from pg_class c where c.oid = rt.typrelid and c.relkind <> 'c' and c.relnamespace = n.oid) as table_name, p.provolatile <> 'v' as read_only,
       has_function_privilege(p.oid, 'execute') as permitted
     from pg_proc p join pg_namespace n on n.oid = p.pronamespace join lateral (
       with recursive base(oid, next) as (
         select oid, typbasetype from pg_type where oid = p.prorettype
         union all select t.oid, t.typbasetype from base join pg_type t on t.oid = base.next)
       select t.* from base join pg_type t on t.oid = base.oid where base.next = 0) rt on true
     where n.nspname = $1 and p.proname = $2 and p.prokind = 'f'
       and ($3 or not exists (
         select from pg_depend d where d.classid = 'pg_proc'::regclass and d.objid = p.oid and d.deptype = 'e'))
     order by p.oid`,
    [schema, name, ofExtensions],
  )
  return rows.map((row) => ({
    schema,
    name,
    args: argumentsOf(row),
    returnsSet: row.returns_set,
    returnsRow: row.returns_row,
    returnsVoid: row.returns_void,
    returnsRecord: row.returns_record,
    table: row.table_name,
    readOnly: row.read_only,
    isPermitted: row.permitted,
  }))
}

/** The parameters of a row of `pg_proc` that a caller gives: names and modes include results, types do not. */
export function argumentsOf(row: {
  readonly names: readonly string[] | null
  readonly modes: readonly string[] | null
  readonly types: readonly string[]
  readonly defaults: number
}): Argument[] {
  const names = row.names ?? []
  const inputs = row.modes === null ? names : names.filter((_, i) => ['i', 'b', 'v'].includes(row.modes?.[i] ?? 'i'))
  const firstOptional = row.types.length - row.defaults
  const isVariadic = row.modes?.includes('v') === true
  const last = row.types.length - 1
  return row.types.map((type, i) => ({
    name: inputs[i] ?? '',
    type,
    optional: i >= firstOptional,
    isVariadic: isVariadic && i === last,
  }))
}
