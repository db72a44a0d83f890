// Workbooks for tests.

import { crc32 } from 'node:zlib';

/** The bytes of a workbook of one sheet with these rows of texts and numbers. */
export function workbook(rows) {
  const MAIN = 'http://schemas.openxmlformats.org/spreadsheetml/2006/main';
  const RELATIONS = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships';
  const cell = (value) => (typeof value === 'number' ? `<c><v>${value}</v></c>` : `<c t="inlineStr"><is><t>${value}</t></is></c>`);
  const lines = rows.map((row) => `<row>${row.map(cell).join('')}</row>`).join('');
  const related = (name, type) =>
    `<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="r1" Type="${RELATIONS}/${type}" Target="${name}"/></Relationships>`;
  return archive({
    '[Content_Types].xml': '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Default Extension="xml" ContentType="application/xml"/></Types>',
    '_rels/.rels': related('xl/workbook.xml', 'officeDocument'),
    'xl/workbook.xml': `<workbook xmlns="${MAIN}" xmlns:r="${RELATIONS}"><sheets><sheet name="data" sheetId="1" r:id="r1"/></sheets></workbook>`,
    'xl/_rels/workbook.xml.rels': related('worksheets/sheet1.xml', 'worksheet'),
    'xl/worksheets/sheet1.xml': `<worksheet xmlns="${MAIN}"><sheetData>${lines}</sheetData></worksheet>`,
  });
}

/** A zip archive of texts that are not packed. */
function archive(files) {
  const [parts, entries] = [[], []];
  let offset = 0;
  for (const [name, content] of Object.entries(files)) {
    const [called, bytes] = [Buffer.from(name), Buffer.from(content)];
    const facts = Buffer.alloc(26);
    facts.writeUInt16LE(20, 0);
    facts.writeUInt32LE(crc32(bytes), 10);
    facts.writeUInt32LE(bytes.length, 14);
    facts.writeUInt32LE(bytes.length, 18);
    facts.writeUInt16LE(called.length, 22);
    const place = Buffer.alloc(14);
    place.writeUInt32LE(offset, 10);
    parts.push(Buffer.from('PK\x03\x04'), facts, called, bytes);
    entries.push(Buffer.from('PK\x01\x02\x14\0'), facts, place, called);
    offset += 30 + called.length + bytes.length;
  }
  const listing = Buffer.concat(entries);
  const end = Buffer.alloc(18);
  end.writeUInt16LE(Object.keys(files).length, 4);
  end.writeUInt16LE(Object.keys(files).length, 6);
  end.writeUInt32LE(listing.length, 8);
  end.writeUInt32LE(offset, 12);
  return Buffer.concat([...parts, listing, Buffer.from('PK\x05\x06'), end]);
}
