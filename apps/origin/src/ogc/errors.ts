import { RestError } from '../rest/errors.ts'

/** Errors of `/ogc/v1`, in the shape of those of `/rest/v1`. */
export const noCollection = (id: string) =>
  new RestError(404, 'COLLECTION_NOT_FOUND', `There is no collection ${id} that you may read`, {
    hint: 'GET /ogc/v1/collections names what you may read.',
  })

export const noFeature = (id: string) =>
  new RestError(404, 'FEATURE_NOT_FOUND', `There is no feature ${id} that you may see or change`)

export const featureChanged = (id: string) =>
  new RestError(
    412,
    'FEATURE_CHANGED',
    `The feature ${id} was changed or deleted since the version that If-Match names`,
    {
      hint: 'GET the feature at its address, without parameters, and send its ETag.',
    },
  )

export const noSetOfTiles = (id: string) =>
  new RestError(404, 'TILE_MATRIX_SET_NOT_FOUND', `There is no tile matrix set ${id}`, { hint: 'Use WebMercatorQuad.' })

export const badParameter = (name: string, detail: string) =>
  new RestError(400, 'BAD_PARAMETER', `The parameter ${name} cannot be read`, { details: detail })

export const unknownParameter = (name: string, known: readonly string[]) =>
  new RestError(400, 'PARAMETER_UNKNOWN', `There is no parameter ${name}`, { hint: `Use some of ${known.join(', ')}.` })

export const badFilter = (detail: string) =>
  new RestError(400, 'BAD_FILTER', 'The filter cannot be read', {
    details: detail,
    hint: 'Write CQL2 with the properties of …/queryables; filter-lang is cql2-text or cql2-json.',
  })

export const unknownCrs = (name: string, uri: string, known: readonly string[]) =>
  new RestError(400, 'CRS_UNKNOWN', `${name} is ${uri}, which the collection does not offer`, {
    hint: `Use one of ${known.join(', ')}.`,
  })

export const badFeature = (detail: string) =>
  new RestError(400, 'BAD_FEATURE', 'The feature cannot be read', {
    details: detail,
    hint: 'Send one GeoJSON Feature.',
  })

export const noType = (type: string, wanted: readonly string[]) =>
  new RestError(415, 'UNSUPPORTED_MEDIA_TYPE', `A body of the type ${type} is not accepted`, {
    hint: `Send Content-Type: ${wanted.join(' or ')}.`,
  })

export const notEditable = (id: string, method: string) =>
  new RestError(405, 'METHOD_NOT_ALLOWED', `${method} is not offered for ${id}`, {
    hint: 'OPTIONS lists the methods that you may use. Changes need a table with a primary key of one column, and the right to change it.',
  })
