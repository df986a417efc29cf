import { Capacity, ref } from '@terrane/contracts'
import type { Http } from '@terrane/service'
import { ProjectQuery, guarded, requestScope } from './guarded.ts'
import type { Task } from '../jobs/task.ts'
import type { JobStore } from '../queue/job-store.ts'
import type { ProjectDirectory } from '../projects/project-directory.ts'

/** Limits and load of the worker. */
export interface CapacityDeps {
  readonly projects: Pick<ProjectDirectory, 'scope'>
  readonly store: Pick<JobStore, 'load'>
  readonly tasks: readonly Task[]
  readonly limits: Omit<Capacity, 'queued' | 'running'>
}

/** `GET /capacity`: the limits of one job, and the load of the pool. */
export function capacityRoute(app: Http, deps: CapacityDeps): void {
  app.get(
    '/capacity',
    guarded('worker', {
      operationId: 'capacity',
      summary: 'Limits and load',
      querystring: ProjectQuery,
      response: { 200: ref(Capacity) },
    }),
    async (request) => {
      await requestScope(deps, request)
      const load = await deps.store.load()
      const inState = (state: string) => load.reduce((n, { status, jobs }) => (status === state ? n + jobs : n), 0)
      const offers = await Promise.all(deps.tasks.map(async (task) => task.offers?.()))
      return {
        ...Object.assign({}, ...offers),
        ...deps.limits,
        queued: inState('pending'),
        running: inState('running'),
      }
    },
  )
}
