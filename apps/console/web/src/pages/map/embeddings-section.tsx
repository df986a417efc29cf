import type { JSX } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import type { Map as MapLibreMap } from 'maplibre-gl'
import { Loading, Notice, ProblemNotice } from '../../components/basics.tsx'
import { Icon } from '../../components/icon.tsx'
import {
  MAX_TILES,
  MAX_VARIED,
  changes,
  readTiles,
  search,
  type EmbeddingTable,
  type Match,
  type ScoreUnit,
  type SearchFrom,
} from '../../lib/embeddings.ts'
import { formatNumber } from '../../lib/format.ts'
import type { Project } from '../../lib/project.ts'
import { Link } from '../../lib/router.tsx'
import { useResource, type Resource } from '../../lib/use-resource.ts'
import { boxOf } from '../../map/box.ts'
import { lookAt } from '../../map/look-at.ts'
import { readImagery, showImagery, thumbnailOf } from '../../map/imagery.ts'
import { FIRST_TILE_LAYER, showFocus, showFrom, showMatches, showShade, showTiles } from '../../map/tiles.ts'
import { withExample } from './examples.ts'
import { MatchList, SimilarityLegend } from './matches.tsx'
import { QueryForm } from './query-form.tsx'

const UNITS: Readonly<Record<ScoreUnit, string>> = {
  similarity: 'cosine similarity',
  change_z: 'change against most pairs',
  change_score: 'change, 1 − cosine similarity',
}

interface EmbeddingsProps {
  readonly project: Project
  readonly map: MapLibreMap | null
  readonly catalogue: Resource<readonly EmbeddingTable[]>
  /** The table that is explored. */
  readonly table: string | null
  readonly from: SearchFrom | null
  /** The earlier table that it is compared with. */
  readonly before: string | null
  readonly onTable: (table: string | null) => void
  readonly onFrom: (from: SearchFrom) => void
  readonly onBefore: (before: string | null) => void
}

/** Embedding tables: choose one, then a tile of it, and see the tiles that are like it. */
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
        <select
          class="select"
          aria-label="Embedding table"
          value={table ?? ''}
          onChange={(event) => onTable(event.currentTarget.value || null)}
        >
          <option value="">Choose a table …</option>
          {catalogue.value.map(({ table_name: name, rows }) => (
            <option key={name} value={name}>
              {name} ({formatNumber(rows)})
            </option>
          ))}
        </select>
      )}
      {catalogue.value && table !== null && !entry && <p class="problem">There is no embedding table {table}.</p>}
      {entry && <Explorer key={entry.table_name} {...props} entry={entry} />}
    </section>
  )
}

function Explorer(props: EmbeddingsProps & { entry: EmbeddingTable }): JSX.Element {
  const { project, map, catalogue, from, before, entry, onFrom, onBefore } = props
  const { table_name: table, rows, bbox } = entry
  const [count, setCount] = useState<number>(500)
  const [varied, setVaried] = useState(false)
  const [least, setLeast] = useState(-1)
  const [focus, setFocus] = useState<string | null>(null)
  const [shade, setShade] = useState(0.55)
  const imagery = useResource(entry.kind === 'geo' ? `imagery ${project.ref} ${table}` : null, (signal) =>
    readImagery(project.ref, table, signal),
  )
  const tiles = useResource(`tiles ${project.ref} ${table}`, (signal) => readTiles(project.ref, table, signal))
  const asked = before
    ? `change ${before} ${table} ${count}`
    : from && `search ${table} ${JSON.stringify(from)} ${count} ${varied}`
  const found = useResource(asked, (signal) =>
    before
      ? changes(project.ref, before, table, count, signal)
      : search(project.ref, table, from ?? { like: [], unlike: [] }, { limit: count, varied }, signal),
  )
  const examples = !before && from && 'like' in from ? [...from.like, ...from.unlike] : []
  const others = (found.value?.matches ?? []).filter(({ id }) => !examples.includes(id))
  const scores = others.map(({ score }) => score)
  const low = scores.reduce((least_, score) => Math.min(least_, score), scores[0] ?? 0)
  const high = scores.reduce((most, score) => Math.max(most, score), scores[0] ?? 1)

  useEffect(() => {
    if (map && bbox) lookAt(map, bbox)
  }, [map, table])
  useEffect(() => {
    if (!map) return
    showTiles(map, tiles.value ?? [], entry.attribution)
    return () => {
      if (map.style) showTiles(map, [])
    }
  }, [map, tiles.value])
  useEffect(() => {
    if (!map) return
    showMatches(map, found.value?.matches ?? [], examples, [low, high])
    return () => {
      if (map.style) showMatches(map, [], [], [0, 1])
    }
  }, [map, found.value])
  useEffect(() => {
    if (!map) return
    showImagery(map, project.ref, table, imagery.value ?? null, FIRST_TILE_LAYER)
    return () => {
      if (map.style) showImagery(map, project.ref, table, null, FIRST_TILE_LAYER)
    }
  }, [map, imagery.value])
  useEffect(() => {
    // Without imagery there is nothing to see through the shades.
    if (map) showShade(map, imagery.value ? shade : 0.78)
  }, [map, imagery.value, shade])
  useEffect(() => {
    if (map) showFocus(map, examples, focus)
  }, [map, examples.join(), focus])
  useEffect(() => {
    if (map) showFrom(map, least)
  }, [map, least])
  useEffect(() => {
    setFocus(null)
    setLeast(-1)
  }, [found.value])

  const look = (match: Match) => {
    setFocus(match.id)
    const box = boxOf(match.geom.coordinates.flat())
    const sight = map?.getBounds()
    if (map && box && sight && !sight.contains([(box[0] + box[2]) / 2, (box[1] + box[3]) / 2])) lookAt(map, box, 15)
  }
  return (
    <>
      <p class="small dim nums">
        {formatNumber(rows)} {entry.kind === 'srai' ? 'cells' : 'tiles'}, {entry.dims} dimensions, {entry.model_name}
      </p>
      {entry.attribution && <p class="small faint">{entry.attribution}</p>}
      {rows > MAX_TILES && (
        <Notice>
          The first {formatNumber(MAX_TILES)} of {formatNumber(rows)} are outlined. Click anywhere else to search by
          position.
        </Notice>
      )}
      {imagery.problem && <p class="small dim">The image itself is not shown: {imagery.problem.message}</p>}
      {tiles.problem && <ProblemNotice problem={tiles.problem} onRetry={tiles.reload} />}
      {tiles.loading && <Loading what="Loading tiles" />}
      <QueryForm from={from} count={count} varied={varied} onFrom={onFrom} onCount={setCount} onVaried={setVaried} />
      {varied && count > MAX_VARIED && <p class="small dim">A varied search returns at most {MAX_VARIED} tiles.</p>}
      <BeforeSelect
        tables={(catalogue.value ?? []).filter((other) => comparable(other, entry))}
        before={before}
        onBefore={onBefore}
      />
      {found.problem && <ProblemNotice problem={found.problem} onRetry={found.reload} />}
      {found.loading && <Loading what="Comparing" />}
      {others.length > 0 && (
        <>
          <SimilarityLegend
            low={low}
            high={high}
            least={Math.max(least, low)}
            unit={UNITS[found.value?.unit ?? 'similarity']}
            onLeast={setLeast}
          />
          {imagery.value && (
            <div class="field shade">
              <label for="shade">Shade over the image</label>
              <input
                id="shade"
                class="range"
                type="range"
                min={0}
                max={1}
                step={0.05}
                value={shade}
                aria-valuetext={`${Math.round(shade * 100)} %`}
                onInput={(event) => setShade(Number(event.currentTarget.value))}
              />
            </div>
          )}
          <MatchList
            matches={others}
            label={before ? 'Changes' : 'Nearest neighbours'}
            pictures={(match) => {
              const box = imagery.value ? boxOf(match.geom.coordinates.flat()) : null
              const shown = before ? [before, table] : [table]
              return box ? shown.map((name) => thumbnailOf(project.ref, name, box, 72)) : []
            }}
            low={low}
            high={high}
            focus={focus}
            onLook={look}
            onFrom={(id) => onFrom({ like: [id], unlike: [] })}
            onExample={before ? null : (id, side) => onFrom(withExample(from, id, side))}
          />
        </>
      )}
      {found.value && others.length === 0 && <p class="dim">No other tile to compare with.</p>}
    </>
  )
}

/** Tables of two dates compare when one model made both of the same kind. */
function comparable(other: EmbeddingTable, entry: EmbeddingTable): boolean {
  return (
    other.table_name !== entry.table_name &&
    other.kind === entry.kind &&
    other.model_name === entry.model_name &&
    other.dims === entry.dims &&
    other.level === entry.level
  )
}

/** Chooses the earlier table; hidden where none can be compared. */
function BeforeSelect(props: {
  tables: readonly EmbeddingTable[]
  before: string | null
  onBefore: (before: string | null) => void
}): JSX.Element | null {
  const { tables, before, onBefore } = props
  if (tables.length === 0) return null
  return (
    <div class="field">
      <label for="before">What changed since</label>
      <select
        id="before"
        class="select"
        value={before ?? ''}
        onChange={(event) => onBefore(event.currentTarget.value || null)}
      >
        <option value="">Choose an earlier table …</option>
        {tables.map(({ table_name: name }) => (
          <option key={name} value={name}>
            {name}
          </option>
        ))}
      </select>
    </div>
  )
}
