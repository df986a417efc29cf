import cookie from '@fastify/cookie'
import type { Keys } from '@terrane/control'
import { addHealth, addMetrics, createHttp, RateLimits, type AppParts, type Http } from '@terrane/service'
import { basemapRoutes, type OwnBasemap } from './page/basemap.ts'
import { addSecurityHeaders, allowPublicMap } from './page/headers.ts'
import { pageRoutes } from './page/page.ts'
import type { Projects } from './projects/projects.ts'
import { dataRoutes } from './routes/data.ts'
import { fileRoutes } from './routes/files.ts'
import { functionRoutes } from './routes/functions.ts'
import { jobRoutes } from './routes/jobs.ts'
import { mapRoutes, placesOf, publicMapRoutes } from './routes/maps.ts'
import { keysRoute } from './routes/keys.ts'
import { scheduleRoutes } from './routes/schedules.ts'
import { projectRoute, projectsRoute } from './routes/projects.ts'
import { routingRoutes } from './routes/routing.ts'
import { sessionRoutes, signInRoutes, type SessionDeps } from './routes/session.ts'
import { sqlRoutes } from './routes/sql.ts'
import { tableRoutes } from './routes/tables.ts'
import { tileRoutes } from './routes/tiles.ts'
import { uploadRoutes } from './routes/uploads.ts'
import { webhookRoutes } from './routes/webhooks.ts'
import { requireProject, requireSession, sessionOf } from './sessions/guard.ts'

/** Everything the app needs; `openDeps` opens it, tests make their own. */
export interface AppDeps extends SessionDeps, AppParts {
  readonly projects: Projects
  /** Issues and revokes the keys of public maps. */
  readonly keys: Pick<Keys, 'issue' | 'revokeLabelled'>
  /** Folder of the built page. */
  readonly pageDir: string
  readonly basemap: OwnBasemap
  readonly bodyLimit: number
}

/** The console: sessions, the project services under /api, and the page. */
export async function buildApp(deps: AppDeps): Promise<Http> {
  const app = createHttp({
    logger: deps.logger,
    bodyLimit: deps.bodyLimit,
    edge: deps.edge,
    longestRequestMs: 0,
  })
  app.decorateRequest('session', null)
  app.decorateRequest('project', null)
  await app.register(cookie)
  addSecurityHeaders(app, deps.cookie.secure, deps.basemap.origin)
  addHealth(app, deps.readiness, { registry: deps.registry })
  addMetrics(app, deps.registry, deps.edge)
  const limits = { pages: new RateLimits(deps.edge), members: new RateLimits(deps.edge) }
  await app.register(async (open) => {
    open.addHook('onRequest', async (request) => limits.pages.count({ address: request.ip }))
    const http = open as unknown as Http
    signInRoutes(http, deps)
    publicMapRoutes(http, deps.projects)
    await pageRoutes(http, deps.pageDir, async (request, reply) => {
      const places = await placesOf(request, reply, deps.projects)
      if (places) allowPublicMap(reply, deps.basemap.origin, places)
    })
  })
  await app.register(async (members) => {
    members.addHook('onRequest', requireSession(deps.sessions, deps.cookie))
    members.addHook('onRequest', async (request) => limits.members.count({ user: sessionOf(request).user.id }))
    const http = members as unknown as Http
    sessionRoutes(http, deps)
    projectsRoute(http, deps.projects)
    await basemapRoutes(http, deps.basemap)
    await members.register(async (project) => {
      project.addHook('onRequest', requireProject(deps.projects))
      const routes = project as unknown as Http
      projectRoute(routes)
      jobRoutes(routes)
      scheduleRoutes(routes)
      webhookRoutes(routes)
      dataRoutes(routes)
      fileRoutes(routes)
      keysRoute(routes)
      mapRoutes(routes, deps.keys)
      tileRoutes(routes)
      tableRoutes(routes)
      sqlRoutes(routes)
      await uploadRoutes(routes)
      routingRoutes(routes)
      functionRoutes(routes)
    })
  })
  return app
}
