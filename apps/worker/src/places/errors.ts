import { defineError } from '@terrane/core'

export const geocoderOff = defineError(
  'GEOCODER_OFF',
  'invalid',
  (f: { path: string }) => `This worker has no geocoder, so ${f.path.slice(1).replaceAll('/', '.')} cannot be used.`,
  (f) => ({
    hint: 'Send aoiGeoJson, or let the operator set TERRANE_GEOCODER_URL.',
    errors: [{ path: f.path, message: 'needs a geocoder' }],
  }),
)

export const placeNotFound = defineError(
  'PLACE_NOT_FOUND',
  'invalid',
  (f: { query: string; path: string; results: number }) =>
    f.results === 0
      ? `The geocoder found no place "${f.query}".`
      : `None of the ${f.results} places called "${f.query}" has an outline.`,
  (f) => ({
    hint: 'Name a town, district or region, with its country, or send aoiGeoJson.',
    errors: [{ path: f.path, message: 'is not a known area' }],
  }),
)

export const geocoderFailed = defineError(
  'GEOCODER_FAILED',
  'upstream',
  (f: { why: string }) => `The geocoder failed: ${f.why}`,
  () => ({ hint: 'Try again later, or send aoiGeoJson.' }),
)

export const geocoderBusy = defineError(
  'GEOCODER_BUSY',
  'rate_limited',
  (f: { seconds: number }) => `Too many places are being looked up: this one would wait more than ${f.seconds} s.`,
  () => ({ hint: 'Ask again later, or let the operator set TERRANE_GEOCODER_URL to a server of their own.' }),
)
