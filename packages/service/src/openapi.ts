import swagger from '@fastify/swagger'
import type { Http } from './http-type.ts'

/**
 * Describes the app as OpenAPI 3.1 from the schemas that validate, served at `GET /doc` without a key. Call it before
 * the routes are added; `finish` may add parts that no schema contains.
 */
export async function addOpenApi(
  app: Http,
  info: { title: string; version: string; description: string },
  finish: (document: Record<string, unknown>) => unknown = (document) => document,
): Promise<void> {
  await app.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: { ...info, license: { name: 'MIT', identifier: 'MIT' } },
      components: {
        securitySchemes: {
          apikey: { type: 'apiKey', in: 'header', name: 'apikey' },
          bearer: { type: 'http', scheme: 'bearer' },
        },
      },
    },
    refResolver: {
      buildLocalReference: (json, _base, _fragment, i) => (typeof json.$id === 'string' ? json.$id : `schema${i}`),
    },
  })
  // Relative to the document, which is served where the app is mounted.
  const servers = [{ url: '.' }]
  app.get('/doc', { schema: { hide: true } }, async () => finish({ ...(app.swagger() as object), servers }))
}
