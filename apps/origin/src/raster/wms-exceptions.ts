import { problemHandler, tellRetry, toProblem } from '@terrane/service'
import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify'
import { escapeXml } from './wmts.ts'

/** Codes of WMS 1.3.0 (table E.1), by the parameter that is at fault. */
const CODES: Readonly<Record<string, string>> = {
  FORMAT: 'InvalidFormat',
  INFO_FORMAT: 'InvalidFormat',
  CRS: 'InvalidCRS',
  LAYERS: 'LayerNotDefined',
  QUERY_LAYERS: 'LayerNotDefined',
  STYLES: 'StyleNotDefined',
  I: 'InvalidPoint',
  J: 'InvalidPoint',
  REQUEST: 'OperationNotSupported',
}

/** Codes that 1.1.1 does not have, and what it has instead. */
const NOT_IN_1_1_1: Readonly<Record<string, string | undefined>> = {
  InvalidCRS: 'InvalidSRS',
  InvalidPoint: undefined,
  OperationNotSupported: undefined,
}

/** Codes by those of errors that name no parameter. */
const OTHERS: Readonly<Record<string, string>> = { RASTER_NOT_FOUND: 'LayerNotDefined' }

/** Format of exceptions of a version of WMS, as its capabilities list it. */
export function exceptionFormat(version: string): string {
  return version === '1.1.1' ? 'application/vnd.ogc.se_xml' : 'XML'
}

/** Answers errors as service exceptions of WMS, with the HTTP status of the error; as problems where EXCEPTIONS asks for JSON. */
export function wmsExceptions(thrown: FastifyError, request: FastifyRequest, reply: FastifyReply): void {
  const query = new Map([...new URLSearchParams(request.url.split('?')[1])].map(([name, value]) => [name.toLowerCase(), value])) // prettier-ignore
  if (/json/i.test(query.get('exceptions') ?? '')) return problemHandler(thrown, request, reply)
  const problem = toProblem(thrown, request.id)
  if (problem.status >= 500 && problem.status !== 501) request.log.error({ err: thrown }, 'request failed')
  if (problem.status === 401) reply.header('www-authenticate', 'Bearer')
  tellRetry(reply, problem.status, thrown)
  const version = query.get('version') === '1.1.1' ? '1.1.1' : '1.3.0'
  const locator = problem.errors[0]?.path.slice(1) ?? ''
  const found = CODES[locator] ?? OTHERS[problem.code]
  const isOlder = version === '1.1.1' && found !== undefined && found in NOT_IN_1_1_1
  const code = isOlder ? NOT_IN_1_1_1[found] : found
  const text = [problem.message, problem.hint].filter(Boolean).join(' ')
  const names = `${code ? ` code="${code}"` : ''}${locator ? ` locator="${escapeXml(locator)}"` : ''}`
  const space = version === '1.3.0' ? ' xmlns="http://www.opengis.net/ogc"' : ''
  const type = version === '1.1.1' ? exceptionFormat(version) : 'text/xml'
  const body = `<?xml version="1.0" encoding="UTF-8"?>\n<ServiceExceptionReport version="${version}"${space}>\n  <ServiceException${names}>${escapeXml(text)}</ServiceException>\n</ServiceExceptionReport>\n`
  void reply.code(problem.status).type(type).send(body)
}
