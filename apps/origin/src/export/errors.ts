import { RestError } from '../rest/errors.ts'

export const badExport = (detail: string) =>
  new RestError(400, 'PGRST100', 'The export cannot be read', { details: detail })

export const noStream = (format: string) =>
  new RestError(400, 'PGRST100', `A ${format} cannot be streamed`, {
    hint: "Ask the worker's exportTable for it, which puts it into the storage.",
  })

export const tooManyExports = (most: number) =>
  new RestError(503, 'EXPORTS_BUSY', `${most} exports are running, which is the most at once`, {
    hint: 'Try again in half a minute.',
  })
