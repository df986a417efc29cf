import type { JSX } from 'preact'
import { Icon } from '../../components/icon.tsx'
import { formatNumber } from '../../lib/format.ts'
import type { Examples, Match } from '../../lib/embeddings.ts'
import { SIMILARITY_RAMP } from '../../map/colors.ts'

const EXAMPLE_BUTTONS = [
  { side: 'like', icon: 'plus', title: 'Also like this one' },
  { side: 'unlike', icon: 'minus', title: 'Not like this one' },
] as const
/** Number of rows in the list; the map shows all matches. */
const LISTED = 50

/** Legend of the shades, with the least score that is shown. */
export function SimilarityLegend(props: {
  low: number
  high: number
  least: number
  /** Unit of the score. */
  unit: string
  onLeast: (least: number) => void
}): JSX.Element {
  const { low, high, least, unit, onLeast } = props
  return (
    <div class="ramp">
      <div class="bar" style={{ background: `linear-gradient(to right, ${SIMILARITY_RAMP.join(', ')})` }} />
      <input
        class="range"
        type="range"
        aria-label="Lowest score shown"
        min={low}
        max={high}
        step={(high - low) / 200 || 0.001}
        value={least}
        aria-valuetext={least.toFixed(3)}
        onInput={(event) => onLeast(Number(event.currentTarget.value))}
      />
      <div class="ends">
        <span>{low.toFixed(3)}</span>
        <span>{least > low ? `from ${least.toFixed(3)}` : unit}</span>
        <span>{high.toFixed(3)}</span>
      </div>
    </div>
  )
}

/** Tiles that were found, the greatest score first. */
export function MatchList(props: {
  matches: readonly Match[]
  low: number
  high: number
  focus: string | null
  /** Accessible name of the list. */
  label: string
  /** Addresses of a match's pictures, before and after for a change; empty where there are none. */
  pictures: (match: Match) => readonly string[]
  onLook: (match: Match) => void
  onFrom: (id: string) => void
  /** Adds a tile to the examples; null where none are compared. */
  onExample: ((id: string, side: keyof Examples) => void) | null
}): JSX.Element {
  const { matches, low, high, focus, label, pictures, onLook, onFrom, onExample } = props
  const hasPictures = matches[0] !== undefined && pictures(matches[0]).length > 0
  return (
    <>
      <ol class={hasPictures ? 'matches pictured' : 'matches'} aria-label={label}>
        {matches.slice(0, LISTED).map((match, i) => (
          <li key={match.id}>
            <button type="button" class="match" aria-current={match.id === focus} onClick={() => onLook(match)}>
              {hasPictures && (
                <span class="pictures">
                  {pictures(match).map((src) => (
                    <img key={src} src={src} alt="" width={36} height={36} loading="lazy" />
                  ))}
                </span>
              )}
              <span class="faint">{i + 1}</span>
              <span class="truncate">{match.id}</span>
              <span class="meter" aria-hidden="true">
                <i style={{ width: `${share(match.score, low, high) * 100}%` }} />
              </span>
              <span>{match.score.toFixed(4)}</span>
            </button>
            {onExample &&
              EXAMPLE_BUTTONS.map(({ side, icon, title }) => (
                <button
                  key={side}
                  type="button"
                  class="button small icon quiet"
                  aria-label={`${title}: ${match.id}`}
                  title={title}
                  onClick={() => onExample(match.id, side)}
                >
                  <Icon name={icon} size={13} />
                </button>
              ))}
            <button
              type="button"
              class="button small icon quiet"
              aria-label={`Tiles like ${match.id}`}
              title="Tiles like this one"
              onClick={() => onFrom(match.id)}
            >
              <Icon name="search" size={13} />
            </button>
          </li>
        ))}
      </ol>
      {matches.length > LISTED && (
        <p class="small dim">
          The first {LISTED} of {formatNumber(matches.length)} that are shaded.
        </p>
      )}
    </>
  )
}

function share(value: number, low: number, high: number): number {
  return high > low ? Math.max(0.03, (value - low) / (high - low)) : 1
}
