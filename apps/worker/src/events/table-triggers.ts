import { changeHookedTable, dropHookTrigger, hookLane, hookTriggerName } from '@terrane/control/hooks'
import {
  qualified,
  quoteIdentifier,
  quoteLiteral,
  type Database,
  type Queryable,
  type Session,
} from '@terrane/database'
import { columnUnknown, tableBusy, tableNotHooked, whereInvalid } from './errors.ts'
import type { HookRow, TableHookStore } from './table-hook-store.ts'

interface TableFacts {
  readonly oid: number
  readonly kind: string
  readonly keys: string[]
  readonly columns: string[]
}

/** Trigger of a hook; `isElsewhere`: it is on another table than the hook's. */
interface Found {
  readonly isElsewhere: boolean
  /** Its arguments, each terminated by a zero byte. */
  readonly given: Buffer
}

/** Installs the trigger of a hook on its table, or replaces it; a paused hook has none. */
export async function installTrigger(database: Database, hook: HookRow): Promise<void> {
  const { table_schema: schema, table_name: table } = hook
  const given = await argumentsOf(database, hook)
  if ((await findTrigger(database, hook))?.isElsewhere === true) await removeTrigger(database, hook)
  const name = quoteIdentifier(hookTriggerName(hook.id))
  const events = hook.events.map((event) => event.toLowerCase()).join(' or ')
  const statement = `create or replace trigger ${name} after ${events} on ${qualified(schema, table)}
    for each row execute function terrane.record_change(${given.map(quoteLiteral).join(', ')})`
  await changeTable(database, hook, (session) => session.query(statement))
}

/** Removes the trigger of a hook, if there is one, even if its table was renamed. */
export async function removeTrigger(database: Database, hook: HookRow): Promise<void> {
  await changeTable(database, hook, (session) => dropHookTrigger(session, hook.id))
}

/** Deletes a hook with its events. An interrupted deletion can be repeated. */
export async function dropHook(database: Database, hooks: TableHookStore, hook: HookRow): Promise<void> {
  // Workers do not reinstall the trigger of a paused hook.
  await hooks.update(hook.id, { paused: true })
  await removeTrigger(database, hook)
  await database.query('delete from terrane.events where lane = $1', [hookLane(hook.id)])
  await hooks.delete(hook.id)
}

/**
 * Installs the trigger of a hook where it is missing, for example after an import replaced the table, or where key
 * columns were renamed. A renamed table keeps its trigger until another table has its former name.
 *
 * @param isActive whether the hook exists and is not paused
 * @returns whether the trigger was installed
 * @throws TABLE_NOT_HOOKED, COLUMN_UNKNOWN, TABLE_BUSY
 */
export async function mendTrigger(
  database: Database,
  hook: HookRow,
  isActive: () => Promise<boolean>,
): Promise<boolean> {
  const found = await findTrigger(database, hook)
  if (found && !found.isElsewhere) {
    const given = await argumentsOf(database, hook)
    if (found.given.equals(Buffer.from(given.map((text) => `${text}\0`).join('')))) return false
  } else if (found && !(await hasTable(database, hook))) return false
  if (!(await isActive())) return false
  await installTrigger(database, hook)
  // Pausing removes the trigger after the change is stored, so one of the two removals takes effect.
  if (!(await isActive())) await removeTrigger(database, hook)
  return true
}

async function findTrigger(database: Queryable, hook: HookRow): Promise<Found | null> {
  // Triggers of partitions are created and dropped with the trigger of their table.
  const { rows } = await database.query<Found>(
    `select tgrelid is distinct from to_regclass($2) as "isElsewhere", tgargs as given
     from pg_trigger where tgname = $1 and tgparentid = 0`,
    [hookTriggerName(hook.id), qualified(hook.table_schema, hook.table_name)],
  )
  return rows[0] ?? null
}

async function hasTable(database: Queryable, { table_schema: schema, table_name: table }: HookRow): Promise<boolean> {
  const { rows } = await database.query<{ found: boolean }>('select to_regclass($1) is not null as found', [
    qualified(schema, table),
  ])
  return rows[0]!.found
}

/** Arguments that the trigger passes to its function. */
async function argumentsOf(database: Queryable, hook: HookRow): Promise<string[]> {
  const { keys } = await tableFacts(database, hook)
  return [hookLane(hook.id), arrayText(keys), arrayText(hook.columns ?? []), JSON.stringify(hook.condition ?? {})]
}

/** Facts about the table of a hook. @throws TABLE_NOT_HOOKED, COLUMN_UNKNOWN, WHERE_INVALID */
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
      ? 'it is not a table'
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
  JSON.stringify(hook.condition, (key, value: unknown) => {
    const texts = typeof value === 'string' ? [key, value] : [key]
    if (texts.some((text) => text.includes('\0') || !text.isWellFormed())) throw whereInvalid()
    return value
  })
  return facts!
}

async function changeTable(
  database: Database,
  hook: HookRow,
  work: (session: Session) => Promise<unknown>,
): Promise<void> {
  try {
    await changeHookedTable(database, work)
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

/** The values as the text of a PostgreSQL `text[]`. */
function arrayText(values: readonly string[]): string {
  return `{${values.map((value) => `"${value.replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`).join(',')}}`
}
