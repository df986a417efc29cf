import type { RasterDescription, TileSet } from '@terrane/tiling/raster'
import type { FastifyRequest } from 'fastify'
import { readZooms, tilesAddress, type TileQuery } from './documents.ts'

/** Identifier, CRS, upper left corner (in its axis order), size at zoom 0 of sets. Source: OGC 17-083r4, annex D. */
export const SETS: Readonly<Record<TileSet, { crs: string; corner: string; columns: number; scale: number }>> = {
  WebMercatorQuad: {
    crs: 'urn:ogc:def:crs:EPSG::3857',
    corner: '-20037508.342789244 20037508.342789244',
    columns: 1,
    scale: 559_082_264.028_717_9,
  },
  WorldCRS84Quad: {
    crs: 'urn:ogc:def:crs:OGC:1.3:CRS84',
    corner: '-180 90',
    columns: 2,
    scale: 279_541_132.014_358_76,
  },
  WGS1984Quad: { crs: 'urn:ogc:def:crs:EPSG::4326', corner: '90 -180', columns: 2, scale: 279_541_132.014_358_76 },
}

/** A WMTS 1.0.0 capabilities document with one layer, whose tiles have the same parameters as the request. */
export function wmtsCapabilities(request: FastifyRequest, about: RasterDescription, { query, set }: TileQuery): string {
  const name = escapeXml(query.get('url') ?? '')
  const { minzoom, maxzoom } = readZooms(query, about, set)
  const template = tilesAddress(request, { query, set }, 'png')
    .replace('{z}', '{TileMatrix}')
    .replace('{x}', '{TileCol}')
    .replace('{y}', '{TileRow}')
  const { crs, corner, columns, scale } = SETS[set]
  const [west, south, east, north] = about.bounds
  const isWrapped = west > east
  const matrices = Array.from({ length: maxzoom - minzoom + 1 }, (_, i) => {
    const zoom = minzoom + i
    return `<TileMatrix><ows:Identifier>${zoom}</ows:Identifier><ScaleDenominator>${scale / 2 ** zoom}</ScaleDenominator>
        <TopLeftCorner>${corner}</TopLeftCorner><TileWidth>256</TileWidth><TileHeight>256</TileHeight>
        <MatrixWidth>${columns * 2 ** zoom}</MatrixWidth><MatrixHeight>${2 ** zoom}</MatrixHeight></TileMatrix>`
  })
  return `<?xml version="1.0" encoding="UTF-8"?>
<Capabilities xmlns="http://www.opengis.net/wmts/1.0" xmlns:ows="http://www.opengis.net/ows/1.1" xmlns:xlink="http://www.w3.org/1999/xlink" version="1.0.0">
  <ows:ServiceIdentification><ows:Title>Terrane</ows:Title><ows:ServiceType>OGC WMTS</ows:ServiceType>
    <ows:ServiceTypeVersion>1.0.0</ows:ServiceTypeVersion></ows:ServiceIdentification>
  <Contents>
    <Layer>
      <ows:Title>${name}</ows:Title>
      <ows:WGS84BoundingBox><ows:LowerCorner>${isWrapped ? -180 : west} ${south}</ows:LowerCorner>
        <ows:UpperCorner>${isWrapped ? 180 : east} ${north}</ows:UpperCorner></ows:WGS84BoundingBox>
      <ows:Identifier>${name}</ows:Identifier>
      <Style isDefault="true"><ows:Identifier>default</ows:Identifier></Style>
      <Format>image/png</Format>
      <TileMatrixSetLink><TileMatrixSet>${set}</TileMatrixSet></TileMatrixSetLink>
      <ResourceURL format="image/png" resourceType="tile" template="${escapeXml(template)}"/>
    </Layer>
    <TileMatrixSet><ows:Identifier>${set}</ows:Identifier><ows:SupportedCRS>${crs}</ows:SupportedCRS>
      ${matrices.join('\n      ')}</TileMatrixSet>
  </Contents>
</Capabilities>
`
}

/** Text of an XML document. */
export function escapeXml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;')
}
