/** Names of the streets that run north, by column of the grid from -9 on. */
export const COLUMN_NAMES = [
  'Westring',
  'Ahornweg',
  'Birkenweg',
  'Mühlstraße',
  'Lindenallee',
  'Parkstraße',
  'Schulstraße',
  'Rathausgasse',
  'Kirchgasse',
  'Hauptstraße',
  'Marktgasse',
  'Bachgasse',
  'Gartenstraße',
  'Rosenweg',
  'Fliederweg',
  'Oststraße',
  'Werkstraße',
  'Industriestraße',
  'Ostring',
] as const

/** Names of the streets that run east, by row of the grid from -9 on. */
export const ROW_NAMES = [
  'Südring',
  'Bahnhofstraße',
  'Am Anger',
  'Goethestraße',
  'Schillerstraße',
  'Lange Gasse',
  'Ludwigstraße',
  'Webergasse',
  'Uferweg',
  'Auenstraße',
  'Am Kai',
  'Ringweg',
  'Hangweg',
  'Quellweg',
  'Nordstraße',
  'Feldstraße',
  'Höhenweg',
  'Sonnenhang',
  'Waldrand',
] as const

export const TOWN = 'Auenstadt'
export const RIVER = 'Aue'
export const LAKE = 'Grünsee'
