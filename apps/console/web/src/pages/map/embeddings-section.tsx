import type { JSX } from 'preact'
import { useEffect, useMemo, useState } from 'preact/hooks'
import type { Map as MapLibreMap } from 'maplibre-gl'
import { Loading, Notice, ProblemNotice } from '../../components/basics.tsx'
import { Select, SelectField } from '../../components/form.tsx'
import { Icon } from '../../components/icon.tsx'
import {
  MAX_TILES,
  MAX_VARIED,
  attributionOf,
  changes,
  changesSql,
  readTiles,
  search,
  searchSql,
  type EmbeddingTable,
  type ScoreUnit,
  type SearchFrom,
} from '../../lib/embeddings.ts'
import { formatNumber } from '../../lib/format.ts'
import type { Project } from '../../lib/project.ts'
import { Link } from '../../lib/router.tsx'
import { useResource, type Resource } from '../../lib/use-resource.ts'
import { lookAt } from '../../map/look-at.ts'
import { useDrawn } from '../../map/use-drawn.ts'
import { readImagery, showImagery } from '../../map/imagery.ts'
import { FIRST_TILE_LAYER } from '../../map/tiles.ts'
import { QueryForm } from './query-form.tsx'
import { SearchResult } from './search-result.tsx'
import { TileColors } from './tile-colors.tsx'

interface EmbeddingsProps {
  readonly project: Project
  readonly map: MapLibreMap | null
  readonly catalogue: Resource<readonly EmbeddingTable[]>
  /** The selected table. */
  readonly table: string | null
  readonly from: SearchFrom | null
  /** The earlier table for a comparison. */
  readonly before: string | null
  readonly onTable: (table: string | null) => void
  readonly onFrom: (from: SearchFrom) => void
  readonly onBefore: (before: string | null) => void
}

/** Embedding tables: a choice of a table and of a tile, and the tiles that are similar to it. */
export function EmbeddingsSection(props: EmbeddingsProps): JSX.Element {
  const { project, catalogue, table, onTable } = props
  const entry = catalogue.value?.find(({ table_name: name }) => name === table)
  return (
    <section aria-labelledby="embeddings-title">
      <h2 id="embeddings-title">
        <Icon name="grid" />
        Similarity
      </h2>
      {catalogue.problem && <ProblemNotice problem={catalogue.problem} onRetry={catalogue.reload} />}
      {!catalogue.value && !catalogue.problem && <Loading what="Loading embeddings" />}
      {catalogue.value?.length === 0 && (
        <p class="dim">
          No embeddings yet. <Link href={`/p/${project.ref}/new/createGeoEmbeddings`}>Create some</Link> from imagery.
        </p>
      )}
      {catalogue.value && catalogue.value.length > 0 && (
        <Select
          aria-label="Embedding table"
          value={table ?? ''}
          options={[
            ['', 'Choose a table …'],
            ...catalogue.value.map(({ table_name: name, rows }) => [name, `${name} (${formatNumber(rows)})`] as const),
          ]}
          onChoose={(name) => onTable(name || null)}
        />
      )}
      {catalogue.value && table !== null && !entry && <p class="problem">There is no embeddings table {table}.</p>}
      {entry && <Explorer key={entry.table_name} {...props} entry={entry} />}
    </section>
  )
}

function Explorer(props: EmbeddingsProps & { entry: EmbeddingTable }): JSX.Element {
  const { project, map, catalogue, from, before, entry, onFrom, onBefore } = props
  const { table_name: table, bbox } = entry
  const [count, setCount] = useState<number>(500)
  const [varied, setVaried] = useState(false)
  const [latest, setLatest] = useState(false)
  const tiles = useResource(`tiles ${project.ref} ${table}`, (signal) => readTiles(project.ref, table, signal))
  const outlines = useMemo(
    () => (tiles.value && entry.rows <= MAX_TILES ? new Map(tiles.value.map(({ id, geom }) => [id, geom])) : null),
    [tiles.value, entry.rows],
  )
  const asked = before
    ? `change ${before} ${table} ${count}`
    : from && `search ${table} ${JSON.stringify(from)} ${count} ${varied} ${latest}`
  const wish = { table, from: from ?? { like: [], unlike: [] }, limit: count, varied, latest }
  const compared = before ? { before, after: table, limit: count } : null
  const found = useResource(asked, (signal) =>
    compared ? changes(project.ref, compared, signal) : search(project.ref, { ...wish, outlines }, signal),
  )
  const sqlOf = (unit: ScoreUnit, least: number) =>
    compared ? changesSql(compared, unit, least) : searchSql(wish, least)
  const attribution = attributionOf(catalogue.value ?? [], [table, before])
  const imagery = useResource(entry.kind === 'geo' ? `imagery ${project.ref} ${table}` : null, (signal) =>
    readImagery(project.ref, table, signal),
  )
  useEffect(() => {
    if (map && bbox) lookAt(map, bbox)
  }, [map, table])
  useDrawn(
    map,
    [imagery.value],
    (to) =>
      showImagery(to, imagery.value ? { ref: project.ref, table, imagery: imagery.value } : null, FIRST_TILE_LAYER),
    (to) => showImagery(to, null, FIRST_TILE_LAYER),
  )
  return (
    <>
      <TableFacts entry={entry} />
      {imagery.problem && <p class="small dim">The image itself is not shown: {imagery.problem.message}</p>}
      <TileColors {...{ project, map, entry, tiles }} />
      <QueryForm
        {...{ from, count, varied, latest, onFrom }}
        onCount={setCount}
        onVaried={setVaried}
        onLatest={setLatest}
      />
      {varied && count > MAX_VARIED && <p class="small dim">A diverse search returns at most {MAX_VARIED} tiles.</p>}
      <BeforeSelect
        tables={(catalogue.value ?? []).filter((other) => comparable(other, entry))}
        before={before}
        onBefore={onBefore}
      />
      {found.problem && <ProblemNotice problem={found.problem} onRetry={found.reload} />}
      {found.loading && <Loading what="Comparing" />}
      <SearchResult {...props} {...{ sqlOf, attribution }} found={found.value} hasImagery={Boolean(imagery.value)} />
    </>
  )
}

/** Size and model of a table. */
function TableFacts({ entry }: { entry: EmbeddingTable }): JSX.Element {
  const { rows, kind, dims, model_name: model, attribution } = entry
  return (
    <>
      <p class="small dim nums">
        {formatNumber(rows)} {kind === 'srai' ? 'cells' : 'tiles'}, {dims} dimensions, {model}
      </p>
      {attribution && <p class="small faint">{attribution}</p>}
      {rows > MAX_TILES && (
        <Notice>
          The first {formatNumber(MAX_TILES)} of {formatNumber(rows)} are outlined. Click anywhere else to search by
          position.
        </Notice>
      )}
    </>
  )
}

/** Tables can be compared when the same model made both and they have the same kind. */
function comparable(other: EmbeddingTable, entry: EmbeddingTable): boolean {
  return (
    other.table_name !== entry.table_name &&
    other.kind === entry.kind &&
    other.model_name === entry.model_name &&
    other.dims === entry.dims &&
    other.level === entry.level
  )
}

/** A choice of the earlier table; hidden when no table is comparable. */
function BeforeSelect(props: {
  tables: readonly EmbeddingTable[]
  before: string | null
  onBefore: (before: string | null) => void
}): JSX.Element | null {
  const { tables, before, onBefore } = props
  if (tables.length === 0) return null
  return (
    <SelectField
      id="before"
      label="What changed since"
      value={before ?? ''}
      options={[['', 'Choose an earlier table …'], ...tables.map(({ table_name: name }) => [name, name] as const)]}
      onChoose={(name) => onBefore(name || null)}
    />
  )
}
