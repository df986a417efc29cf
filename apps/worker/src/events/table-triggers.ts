import { qualified, quoteIdentifier, quoteLiteral, type Database, type Queryable } from '@terrane/database'
import { columnUnknown, tableBusy, tableNotHooked } from '../errors.ts'
import { laneOf, type HookRow } from './table-hook-store.ts'

interface TableFacts {
  readonly oid: number
  readonly kind: string
  readonly keys: string[]
  readonly columns: string[]
}

/** Puts the trigger of a hook on its table, in place of one that is there; a paused hook has none. */
export async function installTrigger(database: Database, hook: HookRow): Promise<void> {
  const { table_schema: schema, table_name: table } = hook
  const { keys } = await tableFacts(database, hook)
  const name = quoteIdentifier(triggerName(hook.id))
  const events = hook.events.map((event) => event.toLowerCase()).join(' or ')
  const given = [laneOf(hook.id), arrayText(keys), arrayText(hook.columns ?? []), JSON.stringify(hook.condition ?? {})]
  await changeTable(
    database,
    hook,
    `create or replace trigger ${name} after ${events} on ${qualified(schema, table)}
    for each row execute function terrane.record_change(${given.map(quoteLiteral).join(', ')})`,
  )
}

/** Takes the trigger of a hook away, if it is there. */
export async function removeTrigger(database: Database, hook: HookRow): Promise<void> {
  if (!(await hasTrigger(database, hook))) return
  const table = qualified(hook.table_schema, hook.table_name)
  await changeTable(database, hook, `drop trigger if exists ${quoteIdentifier(triggerName(hook.id))} on ${table}`)
}

/** Whether the table has the trigger of a hook: one that was replaced by an import has not. */
export async function hasTrigger(database: Queryable, hook: HookRow): Promise<boolean> {
  const { rowCount } = await database.query(
    'select from pg_trigger where tgname = $1 and tgrelid = to_regclass($2) and not tgisinternal',
    [triggerName(hook.id), qualified(hook.table_schema, hook.table_name)],
  )
  return rowCount !== 0
}

/**
 * Refuses a hook whose table is none, has no primary key, or lacks a column that the hook names.
 *
 * @throws TABLE_NOT_HOOKED, COLUMN_UNKNOWN
 */
export async function tableFacts(
  database: Queryable,
  hook: Pick<HookRow, 'table_schema' | 'table_name' | 'columns' | 'condition'>,
): Promise<TableFacts> {
  const { table_schema: schema, table_name: table } = hook
  const { rows } = await database.query<TableFacts>(
    `select c.oid, c.relkind as kind,
       array(select a.attname::text from pg_index i cross join unnest(i.indkey) with ordinality k (number, place)
             join pg_attribute a on a.attrelid = c.oid and a.attnum = k.number
             where i.indrelid = c.oid and i.indisprimary order by k.place) as keys,
       array(select a.attname::text from pg_attribute a where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped) as columns
     from pg_class c where c.oid = to_regclass($1)`,
    [qualified(schema, table)],
  )
  const [facts] = rows
  const reason = !facts
    ? 'there is no such table'
    : !['r', 'p'].includes(facts.kind)
      ? 'it is no table'
      : facts.keys.length === 0
        ? 'it has no primary key'
        : null
  if (reason !== null) throw tableNotHooked({ table: `${schema}.${table}`, reason })
  for (const [path, names] of [
    ['/columns', hook.columns ?? []],
    ['/where', Object.keys(hook.condition ?? {})],
  ] as const) {
    for (const name of names) if (!facts!.columns.includes(name)) throw columnUnknown({ path, name })
  }
  return facts!
}

async function changeTable(database: Database, hook: HookRow, statement: string): Promise<void> {
  try {
    await database.transaction(async (session) => {
      // A long writer of the table would hold up all others behind this statement.
      await session.query(`set local lock_timeout = '3s'`)
      await session.query(statement)
    })
  } catch (cause) {
    const table = `${hook.table_schema}.${hook.table_name}`
    const { code } = cause as { code?: string }
    if (code === '55P03') throw tableBusy({ table }, { cause })
    // insufficient_privilege
    if (code === '42501')
      throw tableNotHooked({ table, reason: 'the platform has no right to put a trigger on it' }, { cause })
    throw cause
  }
}

function triggerName(id: string): string {
  // After those of the user, which may still change what they look at.
  return `zz_terrane_hook_${id}`
}

/** A text of `text[]`. */
function arrayText(values: readonly string[]): string {
  return `{${values.map((value) => `"${value.replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`).join(',')}}`
}
