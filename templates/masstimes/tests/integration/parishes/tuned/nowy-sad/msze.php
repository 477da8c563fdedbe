<!doctype html><html><head><meta charset="utf-8"></head><body><h3>Msze święte niedzielne</h3>
<ul><li>sobota (wieczorna) 18:00</li><li>7:00</li><li>8:30 (młodzież)</li><li>10:00</li><li>11:15 – rodziny z dziećmi</li><li>13:00</li><li>19:00 – studenci (nie ma w wakacje)</li></ul>
<h3>Msze święte w tygodniu</h3><p>6:30, 7:15, 18:00</p>
<p>w lipcu i sierpniu: 7:15 i 18:00</p>
<h3>Spowiedź święta</h3><p>w niedziele podczas Mszy św., w dni powszednie 6:15 - 7:30 i 17:30 - 18:30</p>
<h3>Nabożeństwa</h3><p>wtorek 17:30 – nowenna do św. Antoniego<br>piątek 15:00 – Godzina Miłosierdzia<br>I sobota miesiąca 8:15 - różaniec wynagradzający</p></body></html>
