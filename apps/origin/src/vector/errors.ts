import { RestError } from '../rest/errors.ts'

/** Errors of `/vector/v1`, in the form of `/rest/v1`, because it has the same filters. */
export const noSuchLayer = (schema: string, table: string) =>
  new RestError(404, '42P01', `There is no table or view ${schema}.${table} with a geometry that you may read`, {
    hint: 'GET /vector/v1/catalog lists the layers that you may read.',
  })

export const noSuchProperty = (name: string, columns: readonly string[]) =>
  new RestError(400, '42703', `There is no property ${name}`, { hint: `Name some of ${columns.join(', ')}.` })

export const repeatedProperty = (name: string) =>
  new RestError(400, '42701', `The property ${name} is named more than once`, { hint: 'Name each property once.' })

export const badTile = (detail: string) =>
  new RestError(400, 'PGRST100', 'The tile cannot be read', { details: detail })

export const badStats = (detail: string) =>
  new RestError(400, 'PGRST100', 'The statistics cannot be read', { details: detail })

export const tileTooLarge = (limit: number) =>
  new RestError(413, 'ANSWER_TOO_LARGE', `The layers of the tile have more than ${limit} bytes together`, {
    hint: 'Ask for fewer sources, features or properties at once.',
  })
