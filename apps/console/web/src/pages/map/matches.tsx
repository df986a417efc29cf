import type { JSX } from 'preact'
import { Button } from '../../components/basics.tsx'
import { Icon, type IconName } from '../../components/icon.tsx'
import { formatNumber } from '../../lib/format.ts'
import type { Examples, Match } from '../../lib/embeddings.ts'
import { SIMILARITY_RAMP } from '../../map/colors.ts'

const EXAMPLE_BUTTONS = [
  { side: 'like', icon: 'plus', title: 'Add as a similar example' },
  { side: 'unlike', icon: 'minus', title: 'Add as a different example' },
] as const
/** Number of rows in the list; the map shows all matches. */
const LISTED = 50
/** Longest id that is listed with a bar. H3 ids have eighteen digits and take the space of the bar. */
const SHORT_ID = 8

/** Legend of the colours, with the lowest displayed score. */
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

interface MatchListProps {
  readonly matches: readonly Match[]
  readonly low: number
  readonly high: number
  readonly focus: string | null
  /** Accessible name of the list. */
  readonly label: string
  /** URLs of a match's pictures, before and after for a change; may be empty. */
  readonly pictures: (match: Match) => readonly string[]
  readonly onLook: (match: Match) => void
  readonly onFrom: (id: string) => void
  /** Adds a tile to the examples; null when the list is a comparison of two tables. */
  readonly onExample: ((id: string, side: keyof Examples) => void) | null
}

/** The found tiles in descending order of their scores. */
export function MatchList(props: MatchListProps): JSX.Element {
  const { matches, label, pictures } = props
  const hasPictures = matches[0] !== undefined && pictures(matches[0]).length > 0
  const hasLongIds = matches.some(({ id }) => id.length > SHORT_ID)
  return (
    <>
      <ol class={`matches ${hasPictures ? 'pictured' : ''} ${hasLongIds ? 'long-ids' : ''}`} aria-label={label}>
        {matches.slice(0, LISTED).map((match, i) => (
          <MatchRow key={match.id} {...props} match={match} place={i + 1} hasPictures={hasPictures} />
        ))}
      </ol>
      {matches.length > LISTED && (
        <p class="small dim">
          The first {LISTED} of {formatNumber(matches.length)} coloured tiles.
        </p>
      )}
    </>
  )
}

function MatchRow(props: MatchListProps & { match: Match; place: number; hasPictures: boolean }): JSX.Element {
  const { match, place, hasPictures, low, high, focus, pictures, onLook, onFrom, onExample } = props
  return (
    <li>
      <button type="button" class="match" aria-current={match.id === focus} onClick={() => onLook(match)}>
        {hasPictures && (
          <span class="pictures">
            {pictures(match).map((src) => (
              <img key={src} src={src} alt="" width={36} height={36} loading="lazy" />
            ))}
          </span>
        )}
        <span class="faint">{place}</span>
        <span class="break">{match.id}</span>
        <span class="meter" aria-hidden="true">
          <i style={{ width: `${share(match.score, low, high) * 100}%` }} />
        </span>
        <span>{match.score.toFixed(4)}</span>
      </button>
      {onExample &&
        EXAMPLE_BUTTONS.map(({ side, icon, title }) => (
          <MatchButton key={side} id={match.id} icon={icon} title={title} onClick={() => onExample(match.id, side)} />
        ))}
      <MatchButton
        id={match.id}
        icon="search"
        name="Tiles like"
        title="Tiles like this one"
        onClick={() => onFrom(match.id)}
      />
    </li>
  )
}

/** A small button of a tile; its accessible name is `name`, else the title, and the tile's id. */
function MatchButton(props: {
  id: string
  icon: IconName
  title: string
  name?: string
  onClick: () => void
}): JSX.Element {
  const { id, icon, title, name = `${title}:`, onClick } = props
  return (
    <Button kind="small icon quiet" aria-label={`${name} ${id}`} title={title} onClick={onClick}>
      <Icon name={icon} size={13} />
    </Button>
  )
}

function share(value: number, low: number, high: number): number {
  return high > low ? Math.max(0.03, (value - low) / (high - low)) : 1
}
