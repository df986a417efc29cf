import { RestError } from '../rest/errors.ts'

/** Errors of `/maps/v1`, in the shape of those of `/rest/v1`. */
export const noMapFile = (kind: string, name: string) =>
  new RestError(404, 'MAP_FILE_NOT_FOUND', `There is no ${kind} ${name} that you may read`, {
    hint: `GET /maps/v1/${kind}s lists what you may read. The service role uploads it, with ?public=true for others.`,
  })

export const noFont = (stack: string, known: readonly string[]) =>
  new RestError(404, 'FONT_NOT_FOUND', `There is no font of the stack ${stack}`, {
    hint: `Name one of ${known.join(', ')} in text-font, or upload it: PUT /maps/v1/fonts/{name}.`,
  })

export const badName = (name: string) =>
  new RestError(400, 'BAD_NAME', `The name ${name.slice(0, 120)} cannot be used`, {
    hint: 'Use 1 to 100 letters, digits, blanks and the signs _ - . ; it begins with a letter or a digit.',
  })

export const badMapFile = (kind: string, detail: string, hint: string) =>
  new RestError(400, 'BAD_MAP_FILE', `The ${kind} cannot be used`, { details: detail, hint })

export const badGlyphs = (range: string) =>
  new RestError(400, 'BAD_RANGE', `The range of glyphs ${range.slice(0, 40)} cannot be read`, {
    hint: 'Ranges are 0-255, 256-511, … 65280-65535, and end with .pbf.',
  })

export const spriteTooLarge = (detail: string) =>
  new RestError(413, 'SPRITE_TOO_LARGE', `The sprite has ${detail}`, {
    hint: 'Put some of its icons into another sprite.',
  })

export const tooCostly = () =>
  new RestError(400, 'MAP_FILE_TOO_COSTLY', 'Drawing the fonts or icons takes too much time or memory', {
    hint: 'Use simpler outlines, no heavy filters, and fewer icons in a sprite.',
  })
