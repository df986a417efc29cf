import { join } from 'node:path'
import fastifyStatic from '@fastify/static'
import type { Http } from '@terrane/service'
import type { FastifyReply, FastifyRequest } from 'fastify'

/** Caching of files whose name changes with their content. */
const FOREVER = 'public, max-age=31536000, immutable'
/** Files beside index.html. The page refers to no others. */
const ROOT_FILES = ['theme.js', 'favicon.svg']

/**
 * Serves the built page: files under /assets with long-term caching and the build's compressed forms, and index.html
 * for every address that the page itself resolves; `onPublicMap` sets the headers of a public map's page.
 */
export async function pageRoutes(
  app: Http,
  folder: string,
  onPublicMap: (request: FastifyRequest, reply: FastifyReply) => Promise<void>,
): Promise<void> {
  const assets = join(folder, 'assets')
  await app.register(async (scope) => {
    // The plugin answers 403 to invalid paths, such as overlong ones. No such file exists, so the answer is 404.
    scope.setErrorHandler((error: { readonly statusCode?: number }, _, reply) => {
      if (error.statusCode !== 403) throw error
      return reply.callNotFound()
    })
    await scope.register(fastifyStatic, {
      root: assets,
      prefix: '/assets/',
      preCompressed: true,
      index: false,
      redirect: false,
      cacheControl: false,
      setHeaders: (reply, path) => {
        reply.header('cache-control', path.startsWith(assets) ? FOREVER : 'no-cache')
      },
    })
    const serveFile = (url: string, name: string) =>
      scope.get(url, { schema: { hide: true } }, async (_, reply) => reply.sendFile(name, folder))
    scope.get('/m/:ref/:id', { schema: { hide: true } }, async (request, reply) => {
      await onPublicMap(request, reply)
      return reply.sendFile('index.html', folder)
    })
    for (const url of ['/', '/p/*']) serveFile(url, 'index.html')
    for (const name of ROOT_FILES) serveFile(`/${name}`, name)
  })
}
