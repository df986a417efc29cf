import type { JSX } from 'preact'

/** A bar: its index from 0, its count, its colour, and its tooltip. */
interface Bar {
  readonly at: number
  readonly count: number
  readonly fill?: string | undefined
  readonly title?: string
}

/** Frequencies of values as bars side by side. @param props.width number of places */
export function Histogram({ of, bars, width }: { of: string; bars: readonly Bar[]; width: number }): JSX.Element {
  const most = Math.max(...bars.map(({ count }) => count))
  return (
    <svg
      class="histogram"
      viewBox={`0 0 ${width} 20`}
      preserveAspectRatio="none"
      role="img"
      aria-label={`Histogram of ${of}`}
    >
      {bars.map(({ at, count, fill, title }) => {
        const height = count === 0 ? 0 : Math.max(0.6, (20 * count) / most)
        return (
          <rect key={at} x={at} y={20 - height} width="0.9" height={height} fill={fill}>
            {title && <title>{title}</title>}
          </rect>
        )
      })}
    </svg>
  )
}
