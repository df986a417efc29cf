import type { JSX } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import type { Map as MapLibreMap } from 'maplibre-gl'
import { Loading, Name, ProblemNotice } from '../../components/basics.tsx'
import { Icon } from '../../components/icon.tsx'
import { TableSearch } from '../../components/table-search.tsx'
import { formatRows } from '../../lib/format.ts'
import type { Project } from '../../lib/project.ts'
import { Link } from '../../lib/router.tsx'
import { useStore } from '../../lib/store.ts'
import { findTables, groupTables, type TableGroup } from '../../lib/table-groups.ts'
import { readTables, tableLabel } from '../../lib/tables.ts'
import { useAction } from '../../lib/use-action.ts'
import { useResource } from '../../lib/use-resource.ts'
import { layerColor } from '../../map/colors.ts'
import { readLiveTables, showTables, tableBox, visibleTables, type LiveTable } from '../../map/live.ts'
import { lookAt } from '../../map/look-at.ts'
import { Swatch } from '../../map/swatch.tsx'
import { TableColors } from './table-colors.tsx'

/** Lists up to this length are shown whole, without a search. */
const SHORT = 8

/** Tables with a geometry, drawn live; `wanted` is shown at once. */
export function TablesSection(props: {
  project: Project
  map: MapLibreMap | null
  beneath: string
  wanted: string | null
}): JSX.Element {
  const { project, map, beneath, wanted } = props
  const tables = useResource(`live ${project.ref}`, (signal) => readLiveTables(project.ref, signal))
  const origins = useResource(`tables ${project.ref}`, (signal) => readTables(project.ref, signal))
  const [search, setSearch] = useState('')
  const { visible, problem, look, hide } = useShownTables(project.ref, map, beneath)
  useEffect(() => {
    if (map && wanted !== null) look(wanted)
  }, [map, wanted])
  const row = (table: LiveTable) => (
    <TableRow
      key={table.name}
      project={project}
      map={map}
      table={table}
      isShown={visible.includes(table.name)}
      isWanted={table.name === wanted}
      onLook={() => look(table.name)}
      onHide={() => hide(table.name)}
    />
  )
  const all = tables.value ?? []
  // The list stands still once it is there: a group that came later would move it.
  const isReady = tables.value && (origins.value || origins.problem)
  const open = all.length <= SHORT || search !== ''
  const groups = isReady ? groupTables(findTables(all, search), origins.value ?? []) : []
  return (
    <section aria-labelledby="tables-title">
      <h2 id="tables-title">
        <Icon name="layers" /> Tables
      </h2>
      {tables.problem && <ProblemNotice problem={tables.problem} onRetry={tables.reload} />}
      {problem && <ProblemNotice problem={problem} />}
      {!isReady && !tables.problem && <Loading what="Loading tables" />}
      {tables.value?.length === 0 && <NoTable projectRef={project.ref} />}
      {isReady && all.length > SHORT && <TableSearch value={search} onValue={setSearch} />}
      {isReady && all.length > 0 && groups.length === 0 && <p class="dim">No table matches.</p>}
      {groups.map((group) => (
        <Group key={group.key} group={group} open={open} shown={visible}>
          {row}
        </Group>
      ))}
    </section>
  )
}

/** The tables that are drawn on the map. */
function useShownTables(projectRef: string, map: MapLibreMap | null, beneath: string) {
  const shown = visibleTables(projectRef)
  const visible = useStore(shown)
  const { problem, run } = useAction()
  const look = (name: string) => {
    if (!shown.get().includes(name)) shown.set([...shown.get(), name])
    if (!map) return
    void run(async () => {
      const box = await tableBox(projectRef, name)
      if (map.style) lookAt(map, box)
    })
  }
  const hide = (name: string) => shown.set(shown.get().filter((other) => other !== name))
  useEffect(() => {
    if (map) void run(() => showTables(map, projectRef, visible, beneath))
  }, [map, visible])
  return { visible, problem, look, hide }
}

function NoTable({ projectRef }: { projectRef: string }): JSX.Element {
  return (
    <p class="dim">
      No table with a geometry yet. <Link href={`/p/${projectRef}/new`}>Import something</Link>.
    </p>
  )
}

/** Tables that belong together. A group with a table on the map is open at first. */
function Group(props: {
  group: TableGroup<LiveTable>
  open: boolean
  shown: readonly string[]
  children: (table: LiveTable) => JSX.Element
}): JSX.Element {
  const { group, open, shown, children } = props
  const rows = <ul>{group.tables.map(children)}</ul>
  const hasShown = group.tables.some(({ name }) => shown.includes(name))
  if (group.label === null) return rows
  return (
    <details class="table-group" open={open || hasShown}>
      <summary>
        <Name text={group.label} /> <span class="small faint nums">{group.tables.length}</span>
      </summary>
      {rows}
    </details>
  )
}

function TableRow(props: {
  project: Project
  map: MapLibreMap | null
  table: LiveTable
  isShown: boolean
  isWanted: boolean
  onLook: () => void
  onHide: () => void
}): JSX.Element {
  const { project, map, table, isShown, isWanted, onLook, onHide } = props
  const { name, geometry_type: kind, rows } = table
  const row = useRef<HTMLLIElement>(null)
  useEffect(() => {
    const list = row.current?.closest('.scroll')
    // On a phone the whole page scrolls, and the map above the list stays in view.
    if (isWanted && list && list.scrollHeight > list.clientHeight) row.current?.scrollIntoView({ block: 'center' })
  }, [isWanted])
  return (
    <li ref={row} class="layer-row">
      <input
        id={`table-${name}`}
        type="checkbox"
        checked={isShown}
        onChange={(event) => (event.currentTarget.checked ? onLook() : onHide())}
      />
      <Swatch color={layerColor(name)} kind={kind} />
      <label for={`table-${name}`}>
        <span class="truncate" title={tableLabel(name)}>
          {tableLabel(name)}
        </span>
        <span class="small faint nums">
          {kind}
          {rows !== null && `, ${formatRows(rows)}`}
        </span>
      </label>
      <button
        type="button"
        class="button small icon quiet"
        aria-label={`Zoom to ${name}`}
        title="Zoom to it"
        onClick={onLook}
      >
        <Icon name="locate" />
      </button>
      {map && isShown && <TableColors project={project} map={map} table={name} kind={kind} />}
    </li>
  )
}
