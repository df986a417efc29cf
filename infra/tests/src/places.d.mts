export function givePlaces(places: number): Promise<{ readonly path: string; close(): void }>
export function takePlaces(path: string, wanted: number, size: number): Promise<() => void>
