import { TASK_NAMES, type TaskName } from './job.ts'

const NAME = '[A-Za-z_][A-Za-z0-9_]{0,62}'
const CHANGE = `(?:insert|delete|update(?: of ${NAME}(?:, ${NAME}){0,19})?)`

/** An entry of `tables` in function.json, noted as PostgreSQL triggers: `insert or update of status on orders`. */
export const TABLE_ENTRY = `^${CHANGE}(?: or ${CHANGE}){0,2} on ${NAME}$`

/** An entry of `jobs` in function.json: a task or `*`, possibly of one outcome, such as `exportTable: failed`. */
export const JOB_ENTRY = `^(?:\\*|${TASK_NAMES.join('|')})(?:: (?:success|failed))?$`

/** Changes of a table in schema public that a function is called for. `columns`: an update must change one; null: any. */
export interface DeclaredTable {
  readonly table: string
  readonly events: ('INSERT' | 'UPDATE' | 'DELETE')[]
  readonly columns: string[] | null
}

/** Ends of jobs that a function is called for. `tasks`: null for all. */
export interface DeclaredJobs {
  readonly tasks: TaskName[] | null
  readonly statuses: ('success' | 'failed')[]
}

/** Reads an entry that matches {@link TABLE_ENTRY}. */
export function readTableEntry(entry: string): DeclaredTable {
  const end = entry.lastIndexOf(' on ')
  const changes = entry.slice(0, end).split(' or ')
  const events = new Set(changes.map((change) => change.split(' ', 1)[0]!.toUpperCase()))
  // `update` without columns means an update of any column.
  const lists = changes.filter((change) => change.startsWith('update')).map((change) => change.split(' of ')[1])
  const columns = lists.includes(undefined) ? [] : lists.flatMap((list) => list!.split(', '))
  return {
    table: entry.slice(end + ' on '.length),
    events: [...events] as DeclaredTable['events'],
    columns: columns.length === 0 ? null : [...new Set(columns)],
  }
}

/** Reads an entry that matches {@link JOB_ENTRY}. */
export function readJobEntry(entry: string): DeclaredJobs {
  const [task = '*', status] = entry.split(': ')
  return {
    tasks: task === '*' ? null : [task as TaskName],
    statuses: status === undefined ? ['success', 'failed'] : [status as 'success' | 'failed'],
  }
}
