import type { JSX } from 'preact'
import { ProblemNotice } from '../../components/basics.tsx'
import { formatClock, formatNumber } from '../../lib/format.ts'
import { readMinutes, type Minute } from '../../lib/functions.ts'
import type { Project } from '../../lib/project.ts'
import { useInterval, useResource } from '../../lib/use-resource.ts'

const EVERY_MS = 10_000
const WIDTH = 240
const HEIGHT = 48

type Read = (minute: Minute) => number
const CHARTS: readonly (readonly [label: string, unit: string, read: Read])[] = [
  ['Calls', 'per minute', ({ calls }) => calls],
  ['Errors', 'per minute', ({ errors }) => errors],
  ['Duration', 'ms, 95th percentile', (minute) => minute.p95_ms ?? 0],
  ['CPU', 's per minute', ({ cpu_s: cpu }) => cpu],
  ['Memory', 'MB, largest instance', ({ memory_mb: memory }) => memory],
]

/** Calls, errors, durations, CPU and memory of a function in the last hour. */
export function FunctionCharts({ project, name }: { project: Project; name: string }): JSX.Element {
  const minutes = useResource(`minutes ${project.ref} ${name}`, (signal) => readMinutes(project.ref, name, signal))
  useInterval(minutes.problem ? null : EVERY_MS, minutes.reload)
  return (
    <section class="card" aria-labelledby="charts-title">
      <header>
        <h2 id="charts-title">Last hour</h2>
        <span class="small dim">on one functions host</span>
      </header>
      {minutes.problem && <ProblemNotice problem={minutes.problem} onRetry={minutes.reload} />}
      <div class="body charts">
        {CHARTS.map(([label, unit, read]) => (
          <Chart key={label} label={label} unit={unit} minutes={minutes.value ?? []} read={read} />
        ))}
      </div>
    </section>
  )
}

/** Bars of 60 minutes, scaled to the highest. */
function Chart(props: { label: string; unit: string; minutes: readonly Minute[]; read: Read }): JSX.Element {
  const { label, unit, minutes, read } = props
  const most = Math.max(0, ...minutes.map(read))
  const each = WIDTH / Math.max(1, minutes.length)
  const now = minutes.length === 0 ? 0 : read(minutes.at(-1)!)
  return (
    <figure class="chart">
      <figcaption>
        <strong>{label}</strong> <span class="small dim">{unit}</span>
      </figcaption>
      <svg
        viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={`${label}: ${shown(now)} now, at most ${shown(most)} ${unit}`}
      >
        {minutes.map((minute, i) => {
          const height = most === 0 ? 0 : (read(minute) / most) * HEIGHT
          return (
            <rect key={minute.time} x={i * each} y={HEIGHT - height} width={each * 0.8} height={height}>
              <title>{`${formatClock(minute.time)}: ${shown(read(minute))}`}</title>
            </rect>
          )
        })}
      </svg>
      <span class="small dim nums">
        now {shown(now)}, at most {shown(most)}
      </span>
    </figure>
  )
}

function shown(value: number): string {
  return formatNumber(value < 10 ? Math.round(value * 100) / 100 : Math.round(value))
}
