import type { JSX } from 'preact'
import { ProblemNotice, Loading } from '../../components/basics.tsx'
import { SelectField } from '../../components/form.tsx'
import type { Project } from '../../lib/project.ts'
import { findReach, type Costing, type Reach } from '../../lib/routing.ts'
import { useResource, type Resource } from '../../lib/use-resource.ts'
import { REACH_COLORS } from '../../map/reach-areas.ts'

/** Time limits in minutes; two shorter ones are drawn as well. */
const MINUTES = [6, 15, 30, 60] as const

/** The areas that can be reached from a place, while `minutes` is not 0. */
export function useReach(
  project: Project,
  place: readonly [number, number] | undefined,
  costing: Costing,
  minutes: number,
): Resource<Reach> {
  const wanted = place && minutes > 0 ? { place, costing, minutes } : null
  return useResource(wanted && `reach ${project.ref} ${JSON.stringify(wanted)}`, (signal) =>
    findReach(project.ref, wanted as NonNullable<typeof wanted>, signal),
  )
}

/** Chooses the time limit from the first place, and shows the legend. */
export function ReachControl(props: {
  minutes: number
  reach: Resource<Reach>
  hasPlace: boolean
  onMinutes: (minutes: number) => void
}): JSX.Element {
  const { minutes, reach, hasPlace, onMinutes } = props
  const contours = reach.value?.features.map(({ properties }) => properties.contour) ?? []
  return (
    <section aria-label="What can be reached" class="reach">
      <SelectField
        id="reach"
        label="Reachable from A"
        value={String(minutes)}
        options={[['0', 'Do not show'], ...MINUTES.map((most) => [String(most), `within ${most} minutes`] as const)]}
        onChoose={(value) => onMinutes(Number(value))}
      />
      {minutes > 0 && !hasPlace && <p class="help">Click the map to set place A.</p>}
      {reach.problem && <ProblemNotice problem={reach.problem} onRetry={reach.reload} />}
      {reach.loading && <Loading what="Computing the reachable area" />}
      {contours.length > 0 && (
        <ul class="legend" aria-label="Minutes by colour">
          {contours.toReversed().map((value, i) => (
            <li key={value}>
              <svg width="12" height="12" aria-hidden="true">
                <rect width="12" height="12" rx="2" fill={REACH_COLORS[i % REACH_COLORS.length]} />
              </svg>
              {value} minutes
            </li>
          ))}
        </ul>
      )}
    </section>
  )
}
