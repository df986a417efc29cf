import { negotiate } from '@fastify/accept-negotiator'
import { readParameters } from '@terrane/service'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { addVary } from '../compression.ts'
import { GEOJSON, JSON_TYPE, OPENAPI } from './documents.ts'
import { badParameter, unknownParameter } from './errors.ts'
import { htmlPage, PAGE_POLICY, withFormat } from './html.ts'

/** Address of the landing page. */
export function baseOf({ protocol, host }: FastifyRequest): string {
  return `${protocol}://${host}/ogc/v1`
}

/** Address of the request. */
export function selfOf({ protocol, host, url }: FastifyRequest): string {
  return `${protocol}://${host}${url}`
}

/** Refuses parameters that repeat or that a resource does not have. @throws PARAMETER_UNKNOWN, PARAMETER_REPEATED */
export function readKnown(request: FastifyRequest, known: readonly string[] = []): URLSearchParams {
  const given = readParameters(request)
  const all = ['f', ...known]
  for (const name of given.keys()) if (!all.includes(name)) throw unknownParameter(name.slice(0, 100), all)
  return given
}

/** Sends a document as JSON or as a page, as `f` or else `Accept` asks, with links to itself in both. */
export function respond(
  request: FastifyRequest,
  reply: FastifyReply,
  title: string,
  document: Record<string, unknown>,
  type = JSON_TYPE,
): FastifyReply {
  const isPage = asksForPage(request)
  const whole = { ...document, links: [...ownLinks(request, type, isPage), ...othersOf(document['links'])] }
  if (isPage) return sendPage(reply, title, whole)
  // The root of an OpenAPI document may have no other members.
  return sendText(reply, JSON.stringify(type === OPENAPI ? document : whole), type)
}

/** Links of a document to itself and to its other format. */
export function ownLinks(request: FastifyRequest, type: string, isPage: boolean) {
  const self = selfOf(request)
  const page = { href: withFormat(self, 'html'), type: 'text/html', title: 'This document as a page' }
  const data = { href: isPage ? withFormat(self, 'json') : self, type, title: 'This document' }
  return [
    { ...(isPage ? page : data), rel: 'self' },
    { ...(isPage ? data : page), rel: 'alternate' },
  ]
}

/** Whether `f` or else `Accept` asks for a page. Clients may call the data of features `geojson`. @throws BAD_PARAMETER */
export function asksForPage(request: FastifyRequest, type = JSON_TYPE): boolean {
  const format = readParameters(request).get('f')
  const formats = ['json', 'html', ...(type === GEOJSON ? ['geojson'] : [])]
  if (format !== null && !formats.includes(format)) throw badParameter('f', `${formats.join(' or ')} is wanted`)
  if (format !== null) return format === 'html'
  const { accept } = request.headers
  return accept !== undefined && negotiate(accept, [JSON_TYPE, GEOJSON, 'text/html']) === 'text/html'
}

/** Sends a document as a page. @param text replaces the JSON of the document besides its links and its list */
export function sendPage(
  reply: FastifyReply,
  title: string,
  document: Record<string, unknown>,
  text?: string,
): FastifyReply {
  reply.headers({ 'content-security-policy': PAGE_POLICY, 'x-content-type-options': 'nosniff' })
  return sendText(reply, htmlPage(title, document, text), 'text/html; charset=utf-8')
}

/** Sends a text that only this caller may cache. */
export function sendText(reply: FastifyReply, text: string, type: string): FastifyReply {
  for (const name of ['Accept', 'apikey', 'Authorization']) addVary(reply, name)
  // A Buffer, because Fastify rewrites the parameters of the content type of a text.
  return reply.headers({ 'cache-control': 'private, no-cache', 'content-type': type }).send(Buffer.from(text))
}

function othersOf(links: unknown): readonly object[] {
  return ((links ?? []) as readonly { rel: string }[]).filter(({ rel }) => rel !== 'self' && rel !== 'alternate')
}
