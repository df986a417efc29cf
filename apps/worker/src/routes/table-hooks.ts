import { WebhookChange, ref } from '@terrane/contracts'
import { NewTableHook, TableHook, TableHookList, TableHookMade } from '@terrane/contracts/events'
import { hookLane } from '@terrane/control/hooks'
import { uuidv7 } from '@terrane/core'
import type { Http, Sealer } from '@terrane/service'
import { Type } from 'typebox'
import { hookDeclared, tableHookNotFound, tableHooksFull } from '../errors.ts'
import { BY_REQUEST, MOST_HOOKS } from '../events/declared.ts'
import { loadOf } from '../events/outbox.ts'
import { readTarget } from '../events/read-target.ts'
import { toTableHook, type HookRow, type TableHookStore } from '../events/table-hook-store.ts'
import { dropHook, installTrigger, removeTrigger, tableFacts } from '../events/table-triggers.ts'
import { requireWritable } from '../jobs/open-schemas.ts'
import type { SubmitContext } from '../jobs/task.ts'
import type { OpenProject, ProjectDirectory } from '../projects/project-directory.ts'
import type { JobScope } from '../queue/job-row.ts'
import { ProjectQuery, finder, guarded, located, requestScope, type Find } from './guarded.ts'

/** Dependencies of the routes of table hooks. */
export interface TableHookDeps {
  readonly projects: Pick<ProjectDirectory, 'scope' | 'openForSubmit'>
  readonly tableHooks: TableHookStore
  readonly sealer: Sealer
  readonly checkUrl: SubmitContext['checkUrl']
  /** Schemas besides public whose tables may have hooks. */
  readonly openSchemas: readonly string[]
  /** Called when hooks were changed. */
  readonly onHooks: () => void
}

const HookParams = Type.Object({ hook_id: Type.String({ description: 'Id of the table hook.' }) })

/** `/table-hooks`: functions and addresses that are called for changes of a table's rows. */
export function tableHookRoutes(app: Http, deps: TableHookDeps): void {
  const find = finder(deps, deps.tableHooks, tableHookNotFound)
  createRoute(app, deps)
  changeRoutes(app, deps, find)
  app.get(
    '/table-hooks',
    guarded('table hooks', {
      operationId: 'listTableHooks',
      summary: 'List table hooks',
      description: `Every table hook of a project, newest first; a project has at most ${MOST_HOOKS}.`,
      querystring: ProjectQuery,
      response: { 200: ref(TableHookList) },
    }),
    async (request) => {
      const scope = await requestScope(deps, request)
      const hooks = await deps.tableHooks.all(scope)
      return { data: hooks.length === 0 ? [] : await inProject(deps, scope, (project) => show(project, hooks)) }
    },
  )
  app.get(
    '/table-hooks/:hook_id',
    guarded('table hooks', {
      operationId: 'readTableHook',
      summary: 'One table hook',
      description: 'Its secret is not shown again.',
      params: HookParams,
      querystring: ProjectQuery,
      response: { 200: ref(TableHook) },
    }),
    async (request) => {
      const { scope, row: hook } = await find(request, request.params.hook_id)
      return inProject(deps, scope, (project) => showOne(project, hook))
    },
  )
}

function createRoute(app: Http, deps: TableHookDeps): void {
  app.post(
    '/table-hooks',
    guarded('table hooks', {
      operationId: 'createTableHook',
      summary: 'Be told of changes of rows',
      description:
        'Each insert, update and delete that is committed is posted as {type, table, schema, record, old_record} to a function of ' +
        'the project (with the service key) or to an address, signed by the Standard Webhooks specification: at least once, in the ' +
        'order of the changes of a row, with the same webhook-id at each attempt. A body has at most 256 KiB; a larger row is told by ' +
        'its primary key, with "truncated": true. What is not taken after all attempts is a dead letter.',
      querystring: ProjectQuery,
      body: NewTableHook,
      response: { 201: ref(TableHookMade) },
    }),
    async (request, reply) => {
      const scope = await requestScope(deps, request)
      const { schema = 'public', table, events = ['INSERT', 'UPDATE', 'DELETE'], columns = null } = request.body
      const { where: condition = null, description = '', attempts = 15, paused = false } = request.body
      requireWritable(schema, deps.openSchemas)
      const { target, shownUrl } = readTarget(deps, request.body)
      const id = uuidv7()
      const of = { table_schema: schema, table_name: table, columns, condition }
      const made = await inProject(deps, scope, async (project) => {
        await tableFacts(project.database, of)
        const sealed = deps.sealer.seal({ ...target }, id)
        const hook = await deps.tableHooks.insert(scope, MOST_HOOKS, {
          ...BY_REQUEST,
          ...of,
          id,
          events,
          shown_url: shownUrl,
          sealed,
          description,
          attempts,
          paused,
        })
        if (!hook) throw tableHooksFull({ most: MOST_HOOKS })
        try {
          if (!paused) await installTrigger(project.database, hook)
        } catch (error) {
          await deps.tableHooks.delete(id)
          throw error
        }
        return showOne(project, hook)
      })
      deps.onHooks()
      return located(request, reply, made)
        .code(201)
        .send({ ...made, secret: target.secret })
    },
  )
}

function changeRoutes(app: Http, deps: TableHookDeps, find: Find<HookRow>): void {
  app.patch(
    '/table-hooks/:hook_id',
    guarded('table hooks', {
      operationId: 'pauseTableHook',
      summary: 'Pause or resume a table hook',
      description: 'Changes while it is paused are not told. Events of before wait until it is resumed.',
      params: HookParams,
      querystring: ProjectQuery,
      body: WebhookChange,
      response: { 200: ref(TableHook) },
    }),
    async (request) => {
      const { scope, row: hook } = await find(request, request.params.hook_id)
      const { paused } = request.body
      const changed = await inProject(deps, scope, async (project) => {
        const row = await deps.tableHooks.update(hook.id, { paused })
        if (!row) throw tableHookNotFound({ id: hook.id })
        await (paused ? removeTrigger(project.database, hook) : installTrigger(project.database, hook))
        return showOne(project, row)
      })
      deps.onHooks()
      return changed
    },
  )
  app.delete(
    '/table-hooks/:hook_id',
    guarded('table hooks', {
      operationId: 'deleteTableHook',
      summary: 'Delete a table hook',
      description: 'With the events that it has not been told yet and its dead letters.',
      params: HookParams,
      querystring: ProjectQuery,
      response: { 204: Type.Null() },
    }),
    async (request, reply) => {
      const { scope, row: hook } = await find(request, request.params.hook_id)
      if (hook.function_name !== null) throw hookDeclared({ name: hook.function_name })
      await inProject(deps, scope, ({ database }) => dropHook(database, deps.tableHooks, hook))
      deps.onHooks()
      return reply.code(204).send(null)
    },
  )
}

/** Opens the project of a caller for some queries. */
export async function inProject<T>(
  { projects }: Pick<TableHookDeps, 'projects'>,
  scope: JobScope,
  work: (project: OpenProject) => Promise<T>,
): Promise<T> {
  await using project = await projects.openForSubmit(scope, undefined)
  return await work(project)
}

async function show({ database }: OpenProject, hooks: readonly HookRow[]): Promise<TableHook[]> {
  const loads = new Map((await loadOf(database, hooks.map(({ id }) => hookLane(id)))).map((load) => [load.lane, load])) // prettier-ignore
  return hooks.map((hook) => toTableHook(hook, loads.get(hookLane(hook.id))!))
}

async function showOne(project: OpenProject, hook: HookRow): Promise<TableHook> {
  return (await show(project, [hook]))[0]!
}
