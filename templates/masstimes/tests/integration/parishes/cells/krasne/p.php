<html><head><meta http-equiv="Content-Type" content="text/html; charset=iso-8859-2"><title>Porządek</title></head><body><font size="+1">
W NIEDZIELE: godz. 7.00; 8.30; 10.00 (z homilią dla dzieci); 11.30 - suma; 13.00; 19.00<br>
W UROCZYSTOŚCI NIE BĘDĄCE DNIAMI WOLNYMI OD PRACY: 7.00; 9.00; 16.30; 18.00<br>
W DNI POWSZEDNIE: 6.30 (oprócz lipca i sierpnia); 7.00; 18.00<br><br>
NABOŻEŃSTWA:<br>
Majowe - 17.30, w niedziele 18.30<br>
Gorzkie Żale - niedziele Wielkiego Postu 18.15<br>
Droga Krzyżowa - piątki Wielkiego Postu 17.15 i 19.15<br>
Wystawienie Najśw. Sakramentu - I czwartek 17.00<br><br>
SAKRAMENT POJEDNANIA: w dni powszednie 6.15-7.15 i 17.30-18.00</font></body></html>
