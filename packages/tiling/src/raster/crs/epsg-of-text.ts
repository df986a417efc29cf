/**
 * The EPSG code of a reference system given by code, URN, URL or WKT (of the whole system, not of its parts); null
 * without one.
 */
export function epsgOf(srs: string): number | null {
  const [, code] =
    /^EPSG:(\d{1,6})$/i.exec(srs) ??
    /^(?:urn:ogc:def:crs:EPSG:[^:]*:|https?:\/\/www\.opengis\.net\/def\/crs\/EPSG\/[^/]*\/)(\d{1,6})$/i.exec(srs) ??
    /^(?:PROJ|GEOG|GEOD)[^]*(?:AUTHORITY|ID)\["EPSG",\s*"?(\d{1,6})"?\]\s*\]$/.exec(srs) ??
    []
  return code === undefined ? null : Number(code)
}
