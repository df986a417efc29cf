import type { JSX } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { Button, Code, IconButton, Loading, ProblemNotice } from '../../components/basics.tsx'
import { Icon } from '../../components/icon.tsx'
import { Pager, RowTable } from '../../components/row-table.tsx'
import { formatNumber } from '../../lib/format.ts'
import type { Project } from '../../lib/project.ts'
import { Link } from '../../lib/router.tsx'
import {
  FILE_FORMATS,
  callOf,
  dropTable,
  fileOf,
  readRows,
  shareTable,
  type Role,
  type Table,
} from '../../lib/tables.ts'
import { useResource } from '../../lib/use-resource.ts'

const ROLES: readonly (readonly [Role, string])[] = [
  ['anon', 'Everyone with the anon key'],
  ['authenticated', 'Signed-in users'],
]

/** Embedding tables have one switch for both roles. */
const ROLES_OF_EMBEDDINGS: typeof ROLES = [['anon', 'Everyone, signed in or not']]

interface TableProps {
  readonly project: Project
  readonly table: Table
}
type OnChange = (work: Promise<unknown>, closes?: boolean) => void

/** One table: its rows, its readers, client code for it, and its removal. */
export function TablePanel(props: TableProps & { onClose: () => void; onChange: OnChange }): JSX.Element {
  const { project, table, onClose, onChange } = props
  const panel = useRef<HTMLElement>(null)
  // The panel is below a long list, so it is scrolled into view.
  useEffect(() => panel.current?.scrollIntoView({ block: 'start' }), [])
  const name = nameOf(table)
  const shown =
    table.kind === 'embeddings' ? `map?embeddings=${table.table_name}` : `maps/new?table=${encodeURIComponent(name)}`
  return (
    <section class="card table-panel" aria-label={name} ref={panel}>
      <header>
        <h2 class="mono">{name}</h2>
        <div class="actions">
          {table.geometry_type && (
            <Link class="button small" href={`/p/${project.ref}/${shown}`}>
              <Icon name="map" size={14} />
              Map
            </Link>
          )}
          <IconButton label="Close" icon="close" onClick={onClose} />
        </div>
      </header>
      <div class="body stack">
        <Rows project={project} table={table} />
        <div class="row small">
          <span class="dim">Download</span>
          {FILE_FORMATS.map((format) => (
            // A new tab shows an error; after a download the browser closes it.
            <a key={format} href={fileOf(project.ref, table, format)} target="_blank" rel="noopener">
              {format}
            </a>
          ))}
        </div>
        {table.attribution && (
          <p class="small dim">
            {table.attribution}
            {table.licence && `, ${table.licence}`}
          </p>
        )}
        {table.kind !== 'view' && <Sharing project={project} table={table} onChange={onChange} />}
        <Code label="With supabase-js" text={callOf(table, 'supabase-js')} />
        <Code label="With curl" text={callOf(table, 'curl')} />
        {table.geometry_type && <Code label="With QGIS" text={callOf(table, 'qgis')} />}
        {table.kind !== 'view' && <Removal project={project} table={table} onChange={onChange} />}
      </div>
    </section>
  )
}

/** The rows of a table, a page at a time. */
function Rows({ project, table }: TableProps): JSX.Element {
  const [offset, setOffset] = useState(0)
  const rows = useResource(`rows ${project.ref} ${nameOf(table)} ${offset}`, (signal) =>
    readRows(project.ref, table, { offset }, signal),
  )
  const count = rows.value?.length ?? 0
  return (
    <>
      {rows.problem && <ProblemNotice problem={rows.problem} onRetry={rows.reload} />}
      {!rows.value && !rows.problem && <Loading what="Loading rows" />}
      {rows.value && <RowTable rows={rows.value} />}
      <Pager offset={offset} count={count} onOffset={setOffset} />
    </>
  )
}

/** Controls for the roles that may read a table. */
function Sharing({ project, table, onChange }: TableProps & { onChange: OnChange }): JSX.Element {
  // Shows the requested state until the list of tables is read again.
  const [wanted, setWanted] = useState<{ role: Role; shared: boolean } | null>(null)
  useEffect(() => setWanted(null), [table])
  const share = (role: Role, shared: boolean) => {
    setWanted({ role, shared })
    const work = shareTable(project.ref, table, role, shared)
    work.catch(() => setWanted(null))
    onChange(work)
  }
  return (
    <fieldset class="share">
      <legend>Who may read it</legend>
      {(table.kind === 'table' ? ROLES : ROLES_OF_EMBEDDINGS).map(([role, label]) => (
        <label key={role} class="check">
          <input
            type="checkbox"
            checked={wanted?.role === role ? wanted.shared : table.shared_with.includes(role)}
            onChange={(event) => share(role, event.currentTarget.checked)}
          />
          {label} <code class="faint">{role}</code>
        </label>
      ))}
      <p class="small dim">
        {table.kind === 'table'
          ? 'Adds a row-level security policy that allows reading all rows and no writing.'
          : 'Applies to vectors and footprints, and to both roles. When it is off, only the owner and the service role read them.'}
      </p>
    </fieldset>
  )
}

/** Drops a table after a second click. */
function Removal({ project, table, onChange }: TableProps & { onChange: OnChange }): JSX.Element {
  const [asked, setAsked] = useState(false)
  if (!asked) {
    return (
      <div class="row">
        <Button kind="danger" onClick={() => setAsked(true)}>
          Drop the table
        </Button>
      </div>
    )
  }
  return (
    <div class="row">
      <strong>
        Drop {nameOf(table)} and its {table.rows === null ? '' : `${formatNumber(table.rows)} `}rows for good?
      </strong>
      <Button kind="danger" onClick={() => onChange(dropTable(project.ref, table), true)}>
        Drop it
      </Button>
      <Button onClick={() => setAsked(false)}>Keep it</Button>
    </div>
  )
}

function nameOf({ table_schema: schema, table_name: name }: Table): string {
  return `${schema}.${name}`
}
