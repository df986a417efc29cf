/** ASCII spellings of European letters that are not a letter with an accent. */
const SPELLINGS: Readonly<Record<string, string>> = {
  ß: 'ss',
  æ: 'ae',
  œ: 'oe',
  ø: 'o',
  ł: 'l',
  đ: 'd',
  ð: 'd',
  þ: 'th',
  ı: 'i',
}

/** Endings that follow the ending of their content, as in `roads.shp.zip` and `porto.osm.pbf`. */
const OUTER_ENDINGS = /\.(?:zip|gz|bz2|tar|pbf|xml)$/i

/**
 * An identifier that PostgreSQL accepts without quotes: lower-case letters of ASCII, digits and single underscores, the
 * first a letter. Accents are removed (`Überlauf 2` → `uberlauf_2`). A run of other characters becomes one underscore.
 *
 * @param otherwise the name if nothing is left; also, with an underscore, the prefix of a name that begins with a digit
 * @param maxLength maximum number of characters, without this prefix
 */
export function identifierOf(name: string, otherwise: string, maxLength: number): string {
  const plain = name
    .toLowerCase()
    .normalize('NFKD')
    .replaceAll(/\p{Mark}/gu, '')
    .replaceAll(/[^\p{ASCII}]/gu, (letter) => SPELLINGS[letter] ?? letter)
    .replaceAll(/[^a-z0-9]+/g, '_')
    .slice(0, maxLength)
    .replaceAll(/^_|_$/g, '')
  if (plain === '') return otherwise
  return /^[a-z]/.test(plain) ? plain : `${otherwise}_${plain}`
}

/** Table name for a file (name, path or https address): `My Parcels (2).gpkg` → `my_parcels_2`. */
export function tableNameOf(file: string): string {
  const path = /^https?:/i.test(file) ? decoded(new URL(file).pathname) : file
  const name = path.replace(/^.*[/\\]/, '')
  return identifierOf(name.replace(OUTER_ENDINGS, '').replace(/\.[^.]*$/, ''), 't', 60)
}

function decoded(path: string): string {
  try {
    return decodeURIComponent(path)
  } catch {
    return path
  }
}
