import { CreateGeoEmbeddings } from '@terrane/contracts'
import { Value } from 'typebox/value'

/** A request of createGeoEmbeddings with its defaults, or its errors by field. */
export function readRequest(body: unknown): CreateGeoEmbeddings | string[] {
  const request: unknown = Value.Default(CreateGeoEmbeddings, body)
  if (Value.Check(CreateGeoEmbeddings, request)) return request
  return [...Value.Errors(CreateGeoEmbeddings, request)].map((error) => `${error.instancePath} ${error.message}`)
}
