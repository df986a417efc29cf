import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { Empty, Loading, Name, ProblemNotice, Segmented } from '../../components/basics.tsx'
import { Icon } from '../../components/icon.tsx'
import { TableSearch } from '../../components/table-search.tsx'
import { formatAgo, formatBytes, formatNumber } from '../../lib/format.ts'
import type { Project } from '../../lib/project.ts'
import { Link, navigate, usePlace } from '../../lib/router.tsx'
import { readTables, type Table } from '../../lib/tables.ts'
import { taskLabel } from '../../lib/tasks.ts'
import { useAction } from '../../lib/use-action.ts'
import { useResource, type Resource } from '../../lib/use-resource.ts'
import { FilesSection } from './files-section.tsx'
import { TablePanel } from './table-panel.tsx'
import { UploadBox } from './upload-box.tsx'

/**
 * Data of the project: its tables with their sources and readers, and its files. `?table=` opens a table, `?show=files`
 * the files.
 */
export function DataPage({ project }: { project: Project }): JSX.Element {
  const { path, query } = usePlace()
  const tables = useResource(`tables ${project.ref}`, (signal) => readTables(project.ref, signal))
  const [brought, setBrought] = useState(0)
  const shown = query.get('show') === 'files' ? 'files' : 'tables'
  return (
    <div class="page">
      <div class="page-head">
        <h1>Data</h1>
        <div class="actions">
          <Link class="button primary" href={`/p/${project.ref}/new`}>
            <Icon name="plus" />
            Add data
          </Link>
        </div>
      </div>
      <UploadBox project={project} onArrived={() => setBrought((count) => count + 1)} />
      <Segmented
        label="Tables or files"
        value={shown}
        onChange={(value) => navigate(value === 'files' ? `${path}?show=files` : path, { replace: true })}
        options={[
          { value: 'tables', label: 'Tables' },
          { value: 'files', label: 'Files' },
        ]}
      />
      {shown === 'files' ? (
        <FilesSection project={project} round={brought} />
      ) : (
        <Tables project={project} tables={tables} />
      )}
    </div>
  )
}

/** The list of tables, with at most one opened. */
function Tables({ project, tables }: { project: Project; tables: Resource<readonly Table[]> }): JSX.Element {
  const { path, query } = usePlace()
  const [search, setSearch] = useState('')
  const { problem, run } = useAction()
  const chosen = tables.value?.find((table) => nameOf(table) === query.get('table')) ?? null
  const found = tables.value?.filter((table) => nameOf(table).includes(search.trim().toLowerCase())) ?? []
  const open = (table: Table | null) =>
    navigate(table ? `${path}?table=${encodeURIComponent(nameOf(table))}` : path, { replace: true })
  const change = (work: Promise<unknown>, closes: boolean) =>
    run(async () => {
      await work
      if (closes) open(null)
      tables.reload()
    })
  return (
    <>
      {tables.problem && <ProblemNotice problem={tables.problem} onRetry={tables.reload} />}
      {problem && <ProblemNotice problem={problem} />}
      {!tables.value && !tables.problem && <Loading what="Loading tables" />}
      {tables.value?.length === 0 && (
        <Empty icon="layers" title="No table yet">
          <Link href={`/p/${project.ref}/new`}>Import a file, an area, or embed imagery</Link>
        </Empty>
      )}
      {tables.value && tables.value.length > 0 && (
        <>
          <div class="filters">
            <TableSearch value={search} onValue={setSearch} />
          </div>
          <TableList project={project} tables={found} chosen={chosen} onOpen={open} />
        </>
      )}
      {chosen && (
        <TablePanel
          key={nameOf(chosen)}
          project={project}
          table={chosen}
          onClose={() => open(null)}
          onChange={(work, closes = false) => void change(work, closes)}
        />
      )}
    </>
  )
}

function TableList(props: {
  project: Project
  tables: readonly Table[]
  chosen: Table | null
  onOpen: (table: Table | null) => void
}): JSX.Element {
  const { project, tables, chosen, onOpen } = props
  return (
    <div class="card">
      <table class="table cards">
        <thead>
          <tr>
            <th>Table</th>
            <th>Kind</th>
            <th class="num">Rows</th>
            <th class="num">Size</th>
            <th>From</th>
            <th>Read by</th>
          </tr>
        </thead>
        <tbody>
          {tables.map((table) => (
            <TableRow
              key={nameOf(table)}
              project={project}
              table={table}
              isOpen={table === chosen}
              onOpen={() => onOpen(table === chosen ? null : table)}
            />
          ))}
        </tbody>
      </table>
    </div>
  )
}

function TableRow(props: { project: Project; table: Table; isOpen: boolean; onOpen: () => void }): JSX.Element {
  const { project, table, isOpen, onOpen } = props
  return (
    <tr>
      <td class="what">
        <button type="button" class="link" aria-expanded={isOpen} onClick={onOpen}>
          <Name text={table.table_schema === 'public' ? table.table_name : nameOf(table)} />
        </button>
      </td>
      <td data-label="Kind" class="dim short">
        {table.geometry_type ?? table.kind}
      </td>
      <td data-label="Rows" class="num short">
        {table.rows === null ? '–' : formatNumber(table.rows)}
      </td>
      <td data-label="Size" class="num dim short">
        {formatBytes(table.bytes)}
      </td>
      <td data-label="From" class="dim">
        {table.task && table.job_id ? (
          <Link href={`/p/${project.ref}/jobs/${table.task}/${table.job_id}`}>{taskLabel(table.task)}</Link>
        ) : (
          '–'
        )}
        {table.created_at && (
          <>
            {' '}
            <span class="small faint once">{formatAgo(table.created_at)}</span>
          </>
        )}
      </td>
      <td data-label="Read by" class="dim">
        {table.shared_with.length === 0 ? 'service role only' : table.shared_with.join(', ')}
      </td>
    </tr>
  )
}

function nameOf({ table_schema: schema, table_name: name }: Table): string {
  return `${schema}.${name}`
}
