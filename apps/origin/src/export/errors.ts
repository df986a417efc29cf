import { RestError } from '../rest/errors.ts'

/** Seconds after which another export may have ended. */
const RETRY_SECONDS = 30

export const badExport = (detail: string) =>
  new RestError(400, 'PGRST100', 'The export cannot be read', { details: detail })

export const noStream = (format: string) =>
  new RestError(400, 'PGRST100', `A ${format} cannot be streamed`, {
    hint: "Ask the worker's exportTable for it, which puts it into the storage.",
  })

export const tooManyOfOneCaller = (most: number) =>
  new RestError(429, 'TOO_MANY_EXPORTS', `This caller has ${most} exports running, which is the maximum`, {
    hint: 'Wait until one of them is read to its end, or close it. The setting origin.exports.mostOfCaller is the maximum.',
    retrySeconds: RETRY_SECONDS,
  })

export const exportsBusy = (most: number) =>
  new RestError(503, 'EXPORTS_BUSY', `All ${most} places for exports are in use or reserved for other roles`, {
    hint: 'Try again in half a minute. The setting origin.exports.most is the maximum.',
    retrySeconds: RETRY_SECONDS,
  })

/** The client sees only the end of the connection; the error is for the log. */
export const slowClient = () =>
  new RestError(408, 'CLIENT_TOO_SLOW', 'The client reads the export too slowly', {
    hint: 'Read faster, or ask for fewer rows; the settings origin.exports.stallMs and origin.exports.bytesPerSecond are the limits.',
  })

const SMALLER = 'Ask for fewer rows by filters or for fewer columns'

export const exportTooLarge = (most: number) =>
  new RestError(413, 'EXPORT_TOO_LARGE', `The file of this export has more than ${most} bytes`, {
    details: 'format and database need a temporary file, which the setting origin.exports.fileBytes bounds',
    hint: `${SMALLER}, ask the worker's exportTable, or raise the setting origin.exports.fileBytes.`,
  })

export const exportTooLong = (mostMs: number) =>
  new RestError(500, '57014', `The export takes longer than ${mostMs} ms`, {
    hint: `${SMALLER}, or raise the setting origin.exports.timeoutMs.`,
  })

export const noRoom = (free: number, spare: number) =>
  new RestError(
    507,
    'EXPORT_NO_ROOM',
    `The folder of temporary files has ${free} bytes left and must keep ${spare} free`,
    {
      hint: `${SMALLER}, free disk space there, or set TMPDIR to a folder with more.`,
      retrySeconds: RETRY_SECONDS,
    },
  )
