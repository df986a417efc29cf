import type { JSX } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import type { Map as MapLibreMap } from 'maplibre-gl'
import type { EmbeddingTable, Examples, Match, Ranking, ScoreUnit, SearchFrom } from '../../lib/embeddings.ts'
import type { Project } from '../../lib/project.ts'
import { boxOf } from '../../map/box.ts'
import { thumbnailOf } from '../../map/imagery.ts'
import { lookAt } from '../../map/look-at.ts'
import { showFocus, showFrom, showMatches, showShade } from '../../map/tiles.ts'
import { useDrawn } from '../../map/use-drawn.ts'
import { withExample } from './examples.ts'
import { MatchList, SimilarityLegend } from './matches.tsx'
import { SaveLayer } from './save-layer.tsx'

const UNITS: Readonly<Record<ScoreUnit, string>> = {
  similarity: 'cosine similarity',
  change_z: 'robust z-score of the change',
  change_score: 'change, 1 − cosine similarity',
}

interface SearchResultProps {
  readonly project: Project
  readonly map: MapLibreMap | null
  readonly from: SearchFrom | null
  /** The earlier table of a comparison. */
  readonly before: string | null
  readonly entry: EmbeddingTable
  readonly found: Ranking | undefined
  readonly hasImagery: boolean
  readonly onFrom: (from: SearchFrom) => void
  /** Attribution of both tables; null for none. */
  readonly attribution: string | null
  /** Statement with the found tiles from a score on. */
  readonly sqlOf: (unit: ScoreUnit, least: number) => string
}

/** The results of a search, coloured on the map and listed. */
export function SearchResult(props: SearchResultProps): JSX.Element | null {
  const { project, map, from, before, entry, found, hasImagery, onFrom, attribution, sqlOf } = props
  const [least, setLeast] = useState(-1)
  const [focus, setFocus] = useState<string | null>(null)
  const sides = !before && from && 'like' in from ? from : { like: [], unlike: [] }
  const examples = new Set([...sides.like, ...sides.unlike])
  const others = (found?.matches ?? []).filter(({ id }) => !examples.has(id))
  const [low, high] = rangeOf(others)
  useShown(map, { found, sides, range: [low, high], focus, least })
  useEffect(() => {
    setFocus(null)
    setLeast(-1)
  }, [found])

  const look = (match: Match) => {
    setFocus(match.id)
    if (map) lookAtMatch(map, match)
  }
  const pictured = before ? [before, entry.table_name] : [entry.table_name]
  return (
    <>
      {others.length > 0 && (
        <SimilarityLegend
          low={low}
          high={high}
          least={Math.max(least, low)}
          unit={UNITS[found?.unit ?? 'similarity']}
          onLeast={setLeast}
        />
      )}
      <SaveLayer
        projectRef={project.ref}
        table={entry.table_name}
        ending={before ? 'changes' : 'alike'}
        attribution={attribution}
        sql={found && others.length > 0 ? sqlOf(found.unit, Math.max(least, low)) : null}
        examples={areTwoClasses(sides) ? sides : null}
      />
      <Shade map={map} hasImagery={hasImagery} isShown={others.length > 0 && hasImagery} />
      {others.length > 0 && (
        <MatchList
          matches={others}
          label={before ? 'Changes' : 'Nearest neighbours'}
          pictures={(match) => (hasImagery ? picturesOf(project.ref, pictured, match) : [])}
          low={low}
          high={high}
          focus={focus}
          onLook={look}
          onFrom={(id) => onFrom({ like: [id], unlike: [] })}
          onExample={before ? null : (id, side) => onFrom(withExample(from, id, side) ?? { like: [id], unlike: [] })}
        />
      )}
      {found && others.length === 0 && <p class="dim">No other tile to compare with.</p>}
    </>
  )
}

/** Draws matches, examples and the selected tile on the map. */
function useShown(
  map: MapLibreMap | null,
  shown: {
    readonly found: Ranking | undefined
    readonly sides: Examples
    readonly range: readonly [number, number]
    readonly focus: string | null
    readonly least: number
  },
): void {
  const { found, sides, range, focus, least } = shown
  const examples = [...sides.like, ...sides.unlike]
  useDrawn(
    map,
    [found],
    (to) => showMatches(to, found?.matches ?? [], sides, range),
    (to) => showMatches(to, [], sides, [0, 1]),
  )
  useEffect(() => {
    if (map) showFocus(map, examples, focus)
  }, [map, examples.join(), focus])
  useEffect(() => {
    if (map) showFrom(map, least)
  }, [map, least])
}

/** Whether a classifier can learn from examples: both sides have some, with ids that are exact as numbers. */
function areTwoClasses({ like, unlike }: Examples): boolean {
  return like.length > 0 && unlike.length > 0 && [...like, ...unlike].every((id) => Number.isSafeInteger(Number(id)))
}

/** URLs of the pictures of a tile, one per table. */
function picturesOf(projectRef: string, tables: readonly string[], { geom }: Match): readonly string[] {
  const box = boxOf(geom.coordinates.flat())
  return box ? tables.map((table) => thumbnailOf(projectRef, table, box, 72)) : []
}

/** Moves the map to a tile outside of the view. */
function lookAtMatch(map: MapLibreMap, { geom }: Match): void {
  const box = boxOf(geom.coordinates.flat())
  if (box && !map.getBounds().contains([(box[0] + box[2]) / 2, (box[1] + box[3]) / 2])) lookAt(map, box, 15)
}

/** The least and the greatest score. */
function rangeOf(matches: readonly Match[]): readonly [number, number] {
  const scores = matches.map(({ score }) => score)
  return [
    scores.reduce((least, score) => Math.min(least, score), scores[0] ?? 0),
    scores.reduce((most, score) => Math.max(most, score), scores[0] ?? 1),
  ]
}

/** Opacity of the scores over the image. Without an image they are opaque. */
function Shade(props: { map: MapLibreMap | null; hasImagery: boolean; isShown: boolean }): JSX.Element | null {
  const { map, hasImagery, isShown } = props
  const [shade, setShade] = useState(0.55)
  useEffect(() => {
    if (map) showShade(map, hasImagery ? shade : 0.78)
  }, [map, hasImagery, shade])
  if (!isShown) return null
  return (
    <div class="field shade">
      <label for="shade">Opacity over the image</label>
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
  )
}
