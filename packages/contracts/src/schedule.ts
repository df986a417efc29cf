import { Type, type Static } from 'typebox'
import { named, nullable, ref } from './named.ts'

const times = {
  name: Type.String({ maxLength: 100, description: 'For people.' }),
  cron: Type.String({
    minLength: 1,
    maxLength: 200,
    description:
      'Minute, hour, day of the month, month, day of the week (0 or 7 is Sunday); also @hourly, @daily, @weekly, @monthly.',
    examples: ['30 2 * * *'],
  }),
  timeZone: Type.String({
    minLength: 1,
    maxLength: 100,
    description: 'Time zone of the IANA database.',
    examples: ['Europe/Zurich'],
  }),
  paused: Type.Boolean({ description: 'Does not run while true.' }),
}

/** Body that makes a schedule; `input` is the body of the task. */
export const newSchedule = <Input extends ReturnType<typeof Type.Object>>(input: Input) =>
  Type.Object(
    {
      name: Type.Optional(times.name),
      cron: times.cron,
      timeZone: Type.Optional({ ...times.timeZone, default: 'UTC' }),
      paused: Type.Optional({ ...times.paused, default: false }),
      input: {
        ...input,
        description:
          'The request, as POST /jobs/{taskName} takes it. {date} and {time} in its texts become the day and the time of the run: 20261122, 1400.',
      },
    },
    { additionalProperties: false },
  )
export const ScheduleChange = Type.Object(
  {
    name: Type.Optional(times.name),
    cron: Type.Optional(times.cron),
    timeZone: Type.Optional(times.timeZone),
    paused: Type.Optional(times.paused),
  },
  { additionalProperties: false, minProperties: 1 },
)

/** The public record of a schedule. */
export const Schedule = named(
  'Schedule',
  Type.Object(
    {
      id: Type.String({ format: 'uuid' }),
      taskName: Type.String(),
      ...times,
      project_ref: Type.String(),
      input: Type.Record(Type.String(), Type.Unknown(), { description: 'The request without its secrets.' }),
      next_run_at: nullable(Type.String({ format: 'date-time', description: 'Null while it is paused.' })),
      last_run_at: nullable(Type.String({ format: 'date-time' })),
      last_job_id: nullable(Type.String({ format: 'uuid' })),
      skipped: Type.Integer({
        minimum: 0,
        description: 'Times that were skipped because the job of an earlier one had not ended.',
      }),
      last_skipped_at: nullable(Type.String({ format: 'date-time' })),
      created_at: Type.String({ format: 'date-time' }),
      updated_at: Type.String({ format: 'date-time' }),
      links: Type.Object(
        { self: Type.String(), jobs: Type.String() },
        { description: 'Paths below the base address of the worker.' },
      ),
    },
    {
      examples: [
        {
          id: '0199c7a2-6d3e-7c1b-9c5e-2f6f0d1f7a10',
          taskName: 'archiveToPmtiles',
          name: 'Streets every night',
          cron: '30 2 * * *',
          timeZone: 'Europe/Zurich',
          paused: false,
          project_ref: 'local',
          input: { table: 'streets' },
          next_run_at: '2026-11-23T01:30:00.000Z',
          last_run_at: null,
          last_job_id: null,
          skipped: 0,
          last_skipped_at: null,
          created_at: '2026-11-22T14:00:00.000Z',
          updated_at: '2026-11-22T14:00:00.000Z',
          links: {
            self: '/schedules/0199c7a2-6d3e-7c1b-9c5e-2f6f0d1f7a10',
            jobs: '/jobs/archiveToPmtiles?schedule=0199c7a2-6d3e-7c1b-9c5e-2f6f0d1f7a10',
          },
        },
      ],
    },
  ),
)
export type Schedule = Static<typeof Schedule>

export const ScheduleList = named(
  'ScheduleList',
  Type.Object({ data: Type.Array(ref(Schedule)), next_cursor: nullable(Type.String()) }),
)
export type ScheduleList = Static<typeof ScheduleList>

/** Query of lists that have no filter. */
export const PageQuery = Type.Object(
  {
    projectRef: Type.Optional(Type.String({ maxLength: 63, description: 'Required on the shared pool.' })),
    limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 100, default: 20 })),
    cursor: Type.Optional(Type.String({ maxLength: 200, description: 'next_cursor of the page before.' })),
  },
  { additionalProperties: false },
)
