import type { Http } from '@terrane/service'
import { checkControlAccess } from './access.ts'
import type { ControlDeps } from './control-deps.ts'
import { deployRoutes } from './routes/deploy.ts'
import { listRoutes, minutesRoute } from './routes/list.ts'
import { logRoute } from './routes/logs.ts'
import { secretRoutes } from './routes/secrets.ts'

/** The deploy API, `/v1/projects/{ref}/…`, for the service role of the project. */
export function controlRoutes(app: Http, deps: ControlDeps): void {
  app.addHook('onRequest', checkControlAccess(deps.projects, deps.limits))
  listRoutes(app, deps)
  minutesRoute(app, deps)
  deployRoutes(app, deps)
  secretRoutes(app, deps)
  logRoute(app, deps)
}
