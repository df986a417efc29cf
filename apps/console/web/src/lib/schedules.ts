import type { Schedule, ScheduleList } from '@terrane/contracts'
import { get, projectPath, request } from './api.ts'

export type { Schedule } from '@terrane/contracts'

/** Every schedule of a project, newest first; a project has at most a hundred. */
export async function readSchedules(ref: string, signal?: AbortSignal): Promise<readonly Schedule[]> {
  const { data } = await get<ScheduleList>(projectPath(ref, '/schedules?limit=100'), signal)
  return data
}

/** Creates a schedule that submits a request at each time of a cron expression. */
export function makeSchedule(
  ref: string,
  task: string,
  body: { readonly name: string; readonly cron: string; readonly timeZone: string; readonly input: unknown },
): Promise<Schedule> {
  return request('POST', projectPath(ref, `/schedules/${encodeURIComponent(task)}`), body)
}

export function pauseSchedule(ref: string, { id }: Schedule, paused: boolean): Promise<Schedule> {
  return request('PATCH', projectPath(ref, `/schedules/${id}`), { paused })
}

export function deleteSchedule(ref: string, { id }: Schedule): Promise<void> {
  return request('DELETE', projectPath(ref, `/schedules/${id}`))
}
