import { setTimeout as sleep } from 'node:timers/promises'
import { defineError } from '@terrane/core'
import { quoteIdentifier } from '@terrane/database'
import { relationExists, stagedTable, swapIn, tableExists } from '@terrane/database/staging'
import { Type, type Static } from 'typebox'
import type { JobContext, Task } from '../src/jobs/task.ts'

const Body = Type.Object(
  {
    tableName: Type.String({ pattern: '^[a-z][a-z0-9_]{0,62}$' }),
    steps: Type.Optional(Type.Integer({ minimum: 0, default: 3 })),
    stepMs: Type.Optional(Type.Integer({ minimum: 0, default: 10 })),
    /** Kind of failure, if any, and the number of first attempts that fail. */
    fault: Type.Optional(Type.Enum(['input', 'upstream', 'bug', 'after-swap'])),
    faultyAttempts: Type.Optional(Type.Integer({ default: 99 })),
    url: Type.Optional(Type.String({ maxLength: 2000 })),
    projectTarget: Type.Optional(
      Type.Object({
        projectRef: Type.String({ maxLength: 2000 }),
        databaseUrl: Type.Optional(Type.String({ maxLength: 2000 })),
        serviceRoleKey: Type.Optional(Type.String({ maxLength: 2000 })),
        storageUrl: Type.Optional(Type.String({ maxLength: 2000 })),
      }),
    ),
  },
  { additionalProperties: false },
)

const badInput = defineError(
  'BAD_INPUT',
  'invalid',
  () => 'The input is bad',
  () => ({ hint: 'Send a better one.' }),
)
const upstreamDown = defineError('UPSTREAM_DOWN', 'upstream', () => 'The upstream is down')

/** A task that makes a table in steps, with faults on demand: it tests the machinery around tasks. */
export function fakeTask(onRun: (context: JobContext) => void | Promise<void> = () => {}, expireSeconds = 3600): Task {
  return {
    name: 'createGeoEmbeddings',
    summary: 'Fake',
    description: 'Fake',
    body: Body,
    expireSeconds,
    version: 1,
    async checkSubmit(raw, { project }) {
      const { tableName } = raw as Static<typeof Body>
      if (await relationExists(project.database, 'public', tableName))
        throw tableExists({ schema: 'public', table: tableName })
    },
    async run(raw, context) {
      await onRun(context)
      const { tableName, steps = 3, stepMs = 10, fault, faultyAttempts = 99 } = raw as Static<typeof Body>
      const { database } = context.project
      const staged = stagedTable(context.run, 0, 'public', tableName)
      await database.query(`create table terrane_staging.${quoteIdentifier(staged.staging)} (step int)`)
      const faulty = context.attempt <= faultyAttempts ? fault : undefined
      for (let step = 1; step <= steps; step++) {
        await sleep(stepMs, undefined, { signal: context.signal })
        await database.query(`insert into terrane_staging.${quoteIdentifier(staged.staging)} values ($1)`, [step])
        context.progress({ phase: 'steps', done: step, total: steps, unit: 'steps' })
      }
      if (faulty === 'input') throw badInput()
      if (faulty === 'upstream') throw upstreamDown()
      if (faulty === 'bug') throw new Error('secret detail of a bug')
      const result = { table: `public.${tableName}`, rows: steps, attempt: context.attempt }
      await swapIn(database, context.run, [staged], result)
      if (faulty === 'after-swap') throw upstreamDown()
      return result
    },
  }
}
