import type { JSX } from 'preact'
import { qualified } from '@terrane/core/sql-text'
import { Loading, ProblemNotice } from '../../components/basics.tsx'
import { formatNumber } from '../../lib/format.ts'
import type { Project } from '../../lib/project.ts'
import { readTables, tableLabel } from '../../lib/tables.ts'
import { useResource } from '../../lib/use-resource.ts'

/** Tables and views that a statement can name; each is a button for a statement that reads its first rows. */
export function TableList({ project, onSql }: { project: Project; onSql: (sql: string) => void }): JSX.Element {
  const tables = useResource(`tables ${project.ref}`, (signal) => readTables(project.ref, signal))
  return (
    <details class="sql-tables">
      <summary>Tables</summary>
      {tables.problem && <ProblemNotice problem={tables.problem} onRetry={tables.reload} />}
      {!tables.value && !tables.problem && <Loading />}
      {tables.value?.length === 0 && <p class="dim">No tables yet.</p>}
      <ul class="offers">
        {tables.value?.map(({ table_schema: schema, table_name: name, rows }) => (
          <li key={`${schema}.${name}`}>
            <button type="button" onClick={() => onSql(`select * from ${qualified(schema, name)} limit 100`)}>
              <span class="truncate">{tableLabel(`${schema}.${name}`)}</span>
              <span class="small dim nums">{rows === null ? '' : `${formatNumber(rows)} rows`}</span>
            </button>
          </li>
        ))}
      </ul>
    </details>
  )
}
