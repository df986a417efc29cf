/** Headers that SQL may set. Others belong to the server, to proxies or to the security of browsers. */
const PERMITTED =
  /^(?:cache-control|content-disposition|content-language|content-location|deprecation|expires|last-modified|link|location|retry-after|sunset|warning|x-(?!accel|sendfile|content-type-options|frame-options|xss|permitted|forwarded|real-ip|request-id|warnings)[\w-]+)$/
const VALUE = /^[\x20-\x7e]{0,4096}$/

/** Whether SQL may set a header to a value. */
export function isPermittedHeader(name: string, value: unknown): value is string {
  return PERMITTED.test(name.toLowerCase()) && typeof value === 'string' && VALUE.test(value)
}
