import type { JSX } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import type { Map as MapLibreMap } from 'maplibre-gl'
import { Loading, Name, ProblemNotice } from '../../components/basics.tsx'
import { Icon } from '../../components/icon.tsx'
import { toProblem, type Problem } from '../../lib/api.ts'
import { formatRows } from '../../lib/format.ts'
import type { Project } from '../../lib/project.ts'
import { Link } from '../../lib/router.tsx'
import { useStore } from '../../lib/store.ts'
import { findTables, groupTables, type TableGroup } from '../../lib/table-groups.ts'
import { readTables, tableLabel } from '../../lib/tables.ts'
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
  const shown = visibleTables(project.ref)
  const visible = useStore(shown)
  const [search, setSearch] = useState('')
  const [problem, setProblem] = useState<Problem | null>(null)
  const act = (work: Promise<unknown>) => {
    setProblem(null)
    work.catch((error: unknown) => setProblem(toProblem(error)))
  }
  const look = (name: string) => {
    if (!shown.get().includes(name)) shown.set([...shown.get(), name])
    if (map) act(tableBox(project.ref, name).then((box) => map.style && lookAt(map, box)))
  }
  useEffect(() => {
    if (map) act(showTables(map, project.ref, visible, beneath))
  }, [map, visible])
  useEffect(() => {
    if (map && wanted !== null) look(wanted)
  }, [map, wanted])
  const all = tables.value ?? []
  // The list stands still once it is there: a group that came later would move it.
  const isReady = tables.value && (origins.value || origins.problem)
  const groups = isReady ? groupTables(findTables(all, search), origins.value ?? []) : []
  return (
    <section aria-labelledby="tables-title">
      <h2 id="tables-title">
        <Icon name="layers" />
        Tables
      </h2>
      {tables.problem && <ProblemNotice problem={tables.problem} onRetry={tables.reload} />}
      {problem && <ProblemNotice problem={problem} />}
      {!isReady && !tables.problem && <Loading what="Loading tables" />}
      {tables.value?.length === 0 && (
        <p class="dim">
          No table with a geometry yet. <Link href={`/p/${project.ref}/new`}>Import something</Link>.
        </p>
      )}
      {isReady && all.length > SHORT && (
        <input
          class="input"
          type="search"
          aria-label="Find a table"
          placeholder="Find a table"
          value={search}
          onInput={(event) => setSearch(event.currentTarget.value)}
        />
      )}
      {isReady && all.length > 0 && groups.length === 0 && <p class="dim">No table matches.</p>}
      {groups.map((group) => (
        <Group key={group.key} group={group} open={all.length <= SHORT || search !== ''} shown={visible}>
          {(table) => (
            <TableRow
              key={table.name}
              project={project}
              map={map}
              table={table}
              isShown={visible.includes(table.name)}
              isWanted={table.name === wanted}
              onLook={() => look(table.name)}
              onHide={() => shown.set(visible.filter((other) => other !== table.name))}
            />
          )}
        </Group>
      ))}
    </section>
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
