import type { Http } from '../http-type.ts'

/** A route of the app, including routes without OpenAPI documentation such as proxies. */
export interface ListedRoute {
  readonly method: string
  /** With the parameters of Fastify: `/jobs/:id`, `/files/*`. */
  readonly url: string
  /** JSON schema of the body; null where there is none. */
  readonly body: unknown
}

declare module 'fastify' {
  interface FastifyInstance {
    /** Every route of the app, in the order of their registration. */
    routeList: ListedRoute[]
  }
}

/** Records the routes of the app, for tests and for the process that starts it. */
export function listRoutes(app: Http): void {
  const routes: ListedRoute[] = []
  app.decorate('routeList', routes)
  app.addHook('onRoute', ({ method, url, schema }) => {
    for (const name of [method].flat()) routes.push({ method: name, url, body: schema?.body ?? null })
  })
}
